module suite

go 1.24

require llamaspeculative v0.0.0

replace llamaspeculative => ../../../../bindings_out/go
