// Does nothing, to measure the cost of a dispatch.

#version 460

layout(local_size_x = 1) in;

void main() {}
