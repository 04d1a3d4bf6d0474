#if PostgreSQL
import Foundation
import RelataCore

/// Several values as one parameter.
extension ParameterBuffer {
    /// Takes values as an array, or as JSON for a parameter of JSON.
    package func append(list: [Value]) throws(RelataError) {
        let start = size
        let type = try nextType()
        switch type.kind {
        case .array where type.elementKind == .other && !isCopying:
            try encode(start) { () throws(RelataError) in try write(text: try Self.literal(list)) }
            return finishText(start)
        case .array:
            try encode(start) { () throws(RelataError) in try write(list, arrayOf: type.element) }
        case .jsonb, .text:
            try encode(start) { () throws(RelataError) in
                var writer = JSONWriter()
                try Self.write(list, to: &writer)
                try write(json: writer, as: type)
            }
        default: throw isNoList(type)
        }
        finish(start)
    }

    /// Takes keys: of one column as a list of its values, of several as JSON, an array of arrays.
    package func append(keys: [KeyValue]) throws(RelataError) {
        let start = size
        let type = try nextType()
        if type.kind == .array {
            guard keys.allSatisfy({ $0.values.count == 1 }) else {
                throw .invalidUse("keys of several columns need a parameter of jsonb, not of \(type.name)")
            }
            return try append(list: keys.map { $0.values[0] })
        }
        guard type.kind == .jsonb || type.kind == .text else { throw isNoList(type) }
        try encode(start) { () throws(RelataError) in
            var writer = JSONWriter(capacity: keys.count * 16 + 16)
            writer.append("[")
            for (index, key) in keys.enumerated() {
                if index > 0 { writer.append(",") }
                try Self.write(key.values, to: &writer)
            }
            writer.append("]")
            try write(json: writer, as: type)
        }
        finish(start)
    }

    private func isNoList(_ type: TypeCode) -> RelataError {
        .invalidUse("a list was given to a parameter of \(type.name): cast the parameter to an array, or to jsonb")
    }

    // MARK: Arrays

    private func write(_ list: [Value], arrayOf type: TypeCode) throws(RelataError) {
        let start = size
        let hasNull = list.contains { $0.isNull }
        reserve(24)
        store(Int32(0))
        store(Int32(list.isEmpty ? 0 : 1))  // dimensions
        store(Int32(hasNull ? 1 : 0))
        store(type.oid)
        if !list.isEmpty {
            store(Int32(truncatingIfNeeded: list.count))
            store(Int32(1))  // the index of the first
        }
        for value in list {
            switch value {
            case .null: write(Int32(-1))
            case .integer(let value): try write(value, as: type)
            case .real(let value): try write(value, as: type)
            case .text(let value): _ = try write(value, as: type, isPart: true)
            case .blob(let value): try write(value, as: type)
            case .uuid(let value): try write(value, as: type)
            }
        }
        guard let length = Int32(exactly: size - start - 4), length < 1 << 30 else {
            throw .invalidUse("a list is larger than PostgreSQL's limit of a gigabyte: give it in parts")
        }
        base.storeBytes(of: length.bigEndian, toByteOffset: start, as: Int32.self)
    }

    /// An array in text form, for elements that have no binary form here.
    private static func literal(_ list: [Value]) throws(RelataError) -> String {
        var text = "{"
        for (index, value) in list.enumerated() {
            if index > 0 { text += "," }
            if value.isNull {
                text += "NULL"
                continue
            }
            if case .blob(let data) = value {
                throw .invalidUse("the value \(Value.blob(data)) has no text that an array can contain")
            }
            text += "\""
            for character in value.description.unicodeScalars {
                if character == "\"" || character == "\\" { text += "\\" }
                text.unicodeScalars.append(character)
            }
            text += "\""
        }
        return text + "}"
    }

    // MARK: JSON

    private static func write(_ values: [Value], to writer: inout JSONWriter) throws(RelataError) {
        writer.append("[")
        for (index, value) in values.enumerated() {
            if index > 0 { writer.append(",") }
            switch value {
            case .null: writer.append("null")
            case .integer(let value): writer.write(value)
            case .real(let value):
                guard value.isFinite else {
                    throw .invalidUse("the number \(value) can't be part of a key: JSON can't represent it")
                }
                writer.write(value)
            case .text(let value):
                guard !value.utf8.contains(0) else {
                    throw .invalidUse("PostgreSQL's text can't contain U+0000, so no key can contain it: remove it")
                }
                writer.write(value)
            case .blob(let value): writer.write(value.hexadecimal)
            case .uuid(let value): writer.write(value.uuidString.lowercased())
            }
        }
        writer.append("]")
    }

    private func write(json writer: JSONWriter, as type: TypeCode) throws(RelataError) {
        let isBinary = type.kind == .jsonb
        guard let length = Int32(exactly: writer.bytes.count + (isBinary ? 1 : 0)), length < 1 << 30 else {
            throw .invalidUse("a list is larger than PostgreSQL's limit of a gigabyte: give it in parts")
        }
        write(length)
        if isBinary { write(UInt8(1)) }
        writer.bytes.withUnsafeBytes { write(bytes: $0) }
    }
}
#endif
