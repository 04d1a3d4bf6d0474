import RelataCore
import RelataEngine

extension ParseTransaction {
    /// The key of an object id, exactly as it is stored; `nil` for an invalid id.
    ///
    /// In tables of other programs, keys may be of other types than their columns': the id is looked up.
    ///
    /// - Throws: ``ParseError`` 102 for an id of several objects, such as a number and a text.
    func key(_ id: String, of parseClass: ParseClass) throws(ParseError) -> KeyValue? {
        let coding = parseClass.objectID
        guard coding.holdsOtherTypes else { return coding.key(id) }
        let stored: Set<KeyValue>
        do {
            stored = try connection.storedKeys(among: coding.keys(id), of: parseClass.table)
        } catch {
            throw ParseError(error)
        }
        let named = stored.filter { coding.text($0).hasSameBytes(as: id) }
        guard named.count < 2 else {
            throw ParseError(
                .invalidQuery,
                "\(id.prefix(64)) is the objectId of \(named.count) objects of \(parseClass.name), whose keys have different "
                    + "types: the objectId is ambiguous")
        }
        return named.first ?? coding.key(id)
    }
}
