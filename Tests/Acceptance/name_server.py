"""A server of names, for the networks in which there is no other."""

import socket
import struct


def serve(answer, ended=lambda query: False):
    """Answers questions about names until one has ended it.

    `answer(labels, kind)` gives the address in bytes, `b""` if the name has none of that kind, None if there is no such name, or
    `NotImplemented` to say nothing.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        s.bind(("127.0.0.1", 53))
        while True:
            query, client = s.recvfrom(512)
            if ended(query):
                return
            labels, at = [], 12
            while query[at]:
                labels.append(query[at + 1:at + 1 + query[at]].decode().lower())
                at += 1 + query[at]
            question, kind = query[12:at + 5], struct.unpack("!H", query[at + 1:at + 3])[0]
            address = answer(labels, kind)
            if address is NotImplemented:
                continue
            code = 0x8183 if address is None else 0x8180
            record = struct.pack("!HHHIH", 0xC00C, kind, 1, 0, len(address)) + address if address else b""
            s.sendto(query[:2] + struct.pack("!HHHHH", code, 1, 1 if record else 0, 0, 0) + question + record, client)
