#if PostgreSQL
import Foundation
import RelataCPQ
import RelataCore

/// Types that belong to a database, such as enums, domains and those of extensions: looked up once for a session.
extension Session {
    /// The type of a number that ``learn(_:)`` was given.
    func type(_ oid: UInt32) -> TypeCode {
        TypeCode(builtIn: oid) ?? types[oid] ?? TypeCode(oid: oid, kind: .other)
    }

    /// Looks up the types that aren't known yet.
    ///
    /// - Returns: Whether there were any. The look-up then replaced the unnamed statement.
    @discardableResult
    func learn(_ oids: [UInt32]) throws(PostgresFailure) -> Bool {
        var areNew = false
        for oid in oids where oid != 0 && TypeCode(builtIn: oid) == nil && types[oid] == nil {
            types[oid] = try lookUp(oid)
            areNew = true
        }
        return areNew
    }

    private func lookUp(_ oid: UInt32) throws(PostgresFailure) -> TypeCode {
        // The binary form equals UTF-8 text if the function that sends the type is one of these.
        let sql = """
            SELECT type.typtype, type.typbasetype, \
            CASE WHEN type.typelem <> 0 AND type.typlen = -1 AND type.typcategory = 'A' THEN type.typelem ELSE 0 END, \
            send.proname IN ('textsend', 'varcharsend', 'bpcharsend', 'namesend', 'enum_send', 'citextsend') \
            FROM pg_catalog.pg_type AS type LEFT JOIN pg_catalog.pg_proc AS send ON send.oid = type.typsend \
            WHERE type.oid = $1::pg_catalog.oid
            """
        let handle = try idle()
        let result = String(oid).withCString { text in
            let values: [UnsafePointer<CChar>?] = [text]
            return PQexecParams(handle, sql, 1, nil, values, nil, nil, 0)
        }
        defer { PQclear(result) }
        guard let result, PQresultStatus(result) == PGRES_TUPLES_OK else { throw failure(result, sql: sql) }
        guard PQntuples(result) == 1 else { return TypeCode(oid: oid, kind: .other) }
        func text(_ column: Int32) -> String { PQgetvalue(result, 0, column).map { String(cString: $0) } ?? "" }
        if let element = UInt32(text(2)), element != 0 {
            try learn([element])
            return TypeCode(oid: oid, of: type(element))
        }
        if text(0) == "d", let base = UInt32(text(1)) {
            try learn([base])
            let type = type(base)
            return type.kind == .array ? TypeCode(oid: oid, of: type.element) : TypeCode(oid: oid, kind: type.kind)
        }
        return TypeCode(oid: oid, kind: text(3) == "t" ? .text : .other)
    }
}
#endif
