module adapter

go 1.19

require redial-client v0.0.0

replace redial-client => ../../../../clients/go
