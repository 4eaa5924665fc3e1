from redial_server import main

main()
