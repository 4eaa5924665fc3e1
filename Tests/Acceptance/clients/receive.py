"""Runs the example of a receiver: `receive.py EXAMPLE WEBHOOK`. Then again with a body that was changed."""

import json
import runpy
import sys

receive = runpy.run_path(sys.argv[1])["receive"]
secret, body, headers = json.loads(sys.argv[2])
print(receive(secret, body.encode(), headers))
print(receive(secret, body.encode() + b" ", headers))
