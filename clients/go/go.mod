module redial-client

go 1.19
