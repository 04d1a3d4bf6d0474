import RelataCore
import Testing

/// Error messages name the object, and the property if they are about one.
@Suite struct ErrorTextTests {
    private func failure(_ property: String?, object: String? = nil) -> String {
        var failure = ValidationFailure(entity: "Account", property: property, key: nil, message: "must not be empty")
        failure.object = object
        return RelataError.validation([failure]).description
    }

    @Test func aFailureNamesItsPlace() {
        #expect(failure("name") == "Account.name: must not be empty")
        #expect(failure(nil) == "Account: must not be empty")
        #expect(failure("name", object: "Account 6") == "Account 6, name: must not be empty")
        #expect(failure(nil, object: "Account 6") == "Account 6: must not be empty")
    }

    @Test func conflictsDistinguishChangesFromDeletions() {
        let object = ObjectReference(entity: "Account", key: KeyValue(.integer(6)))
        let changed = RelataError.conflict(Conflict(object: object, given: 1, stored: 2)).description
        #expect(changed.contains("was changed since it was read"))
        let deleted = RelataError.conflict(Conflict(object: object, given: 1, stored: nil)).description
        #expect(deleted.contains("was deleted since it was read"))
    }
}
