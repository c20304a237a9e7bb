# cmake -DINPUT=file -DOUTPUT=file.inc -P embed_file.cmake: the bytes of a file as numbers to #include into an array.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "${bytes}")
