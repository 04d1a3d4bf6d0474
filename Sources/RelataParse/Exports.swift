// The types of lower targets that a program uses: the values of requests and replies.

@_exported public import struct RelataCore.ByteStream
@_exported public import struct RelataCore.JSONObject
@_exported public import enum RelataCore.JSONValue
@_exported public import struct RelataCore.JSONWriter
