import Foundation
import RelataCore

/// Converts parameters and results of functions from and to types of the app.
enum CloudCoding {
    /// Parameters as a type of the app.
    ///
    /// - Throws: ``ParseError`` 142 that names the parameter which doesn't match the type.
    static func decode<Value: Decodable>(_ type: Value.Type, from parameters: JSONObject) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text: String
            if let typed = try? Typed(from: decoder), typed.type == "Date", let iso = typed.iso {
                text = iso
            } else {
                text = try decoder.singleValueContainer().decode(String.self)
            }
            guard let microseconds = DateText.microseconds(text: text) else { throw unreadable("date", decoder) }
            return DateText.date(microseconds: microseconds)
        }
        decoder.dataDecodingStrategy = .custom { decoder in
            let text: String
            if let typed = try? Typed(from: decoder), typed.type == "Bytes", let base64 = typed.base64 {
                text = base64
            } else {
                text = try decoder.singleValueContainer().decode(String.self)
            }
            guard let data = Data(base64Encoded: text) else { throw unreadable("bytes", decoder) }
            return data
        }
        do {
            return try decoder.decode(type, from: Data(JSONWriter.text(.object(parameters)).utf8))
        } catch let error as DecodingError {
            throw refusal(error)
        }
    }

    /// A result as JSON.
    static func encode(_ result: some Encodable) throws -> JSONValue {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in
            try Typed(type: "Date", iso: DateText.parseText(date)).encode(to: encoder)
        }
        encoder.dataEncodingStrategy = .custom { data, encoder in
            try Typed(type: "Bytes", base64: data.base64EncodedString()).encode(to: encoder)
        }
        return try JSONParser.parse(try encoder.encode(result))
    }

    /// A value of one of Parse's types.
    private struct Typed: Codable {
        let type: String
        var iso: String?
        var base64: String?

        enum CodingKeys: String, CodingKey {
            case type = "__type"
            case iso, base64
        }
    }

    private static func unreadable(_ what: String, _ decoder: any Decoder) -> DecodingError {
        DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "invalid \(what)"))
    }

    private static func refusal(_ error: DecodingError) -> ParseError {
        func name(_ context: DecodingError.Context, _ last: (any CodingKey)? = nil) -> String {
            let path = context.codingPath + (last.map { [$0] } ?? [])
            return path.isEmpty
                ? "the parameters"
                : path.map { $0.intValue.map(String.init) ?? $0.stringValue }
                    .joined(separator: ".")
        }
        let reason =
            switch error {
            case .keyNotFound(let key, let context): "Please specify data for \(name(context, key))."
            case .valueNotFound(_, let context): "Please specify data for \(name(context))."
            case .typeMismatch(let type, let context): "Invalid type for \(name(context)). Expected: \(type)"
            case .dataCorrupted(let context): "Invalid value for \(name(context))."
            @unknown default: "Invalid parameters."
            }
        return CloudRule.refusal(reason)
    }
}
