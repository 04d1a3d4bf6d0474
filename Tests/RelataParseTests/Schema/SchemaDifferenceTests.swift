import RelataParse
import Testing

struct SchemaDifferenceTests {
    private func lines(_ here: JSONValue, _ there: JSONValue) throws -> [String] {
        try SchemaDocument(here).differences(to: SchemaDocument(there)).flatMap(\.lines)
    }

    @Test func bothSidesOfEachDifferenceAreShown() throws {
        let here: JSONValue = [
            [
                "className": "Book",
                "fields": [
                    "title": ["type": "String"], "pages": ["type": "Number", "required": true],
                    "genre": ["type": "Pointer", "targetClass": "Genre", "onTargetDelete": "cascade"],
                    "tags": ["type": "Relation", "targetClass": "Tag", "order": false],
                ],
                "indexes": ["_id_": ["_id": 1], "by_title": ["title": 1, "pages": -1]],
                "classLevelPermissions": ["find": ["*": true]],
            ],
            ["className": "Reader", "fields": ["name": ["type": "String"], "age": ["type": "Number"]]],
        ]
        let there: JSONValue = [
            ["className": "Shelf"],
            [
                "className": "Book",
                "fields": [
                    "title": ["type": "Number"], "genre": ["type": "Pointer", "targetClass": "Genre"],
                    "tags": ["type": "Relation", "targetClass": "Tag"],
                    "rating": ["type": "Number", "defaultValue": 5],
                ],
                "indexes": ["by_title": ["pages": -1, "title": 1]], "uniqueIndexes": ["one_title": ["title": 1]],
                "classLevelPermissions": ["find": ["role:Editors": true]],
            ],
        ]
        let found = try lines(here, there)
        #expect(
            found == [
                "- Book.genre: Pointer<Genre>, onTargetDelete cascade", "+ Book.genre: Pointer<Genre>",
                "- Book.pages: Number, required", "+ Book.rating: Number, defaultValue 5",
                "- Book.tags: Relation<Tag>, order false", "+ Book.tags: Relation<Tag>", "- Book.title: String",
                "+ Book.title: Number", #"- the index by_title of Book: {"title":1,"pages":-1}"#,
                #"+ the index by_title of Book: {"pages":-1,"title":1}"#,
                #"+ the unique index one_title of Book: {"title":1}"#,
                #"- the permission find of Book: {"*":true}"#,
                #"+ the permission find of Book: {"role:Editors":true}"#, "- the class Reader: age, name",
                "+ the class Shelf",
            ], "\(found)")
        #expect(try lines(here, here) == [])
    }

    @Test func partsWithoutEffectAreNoDifference() throws {
        let here: JSONValue = [
            [
                "className": "Book",
                "fields": [
                    "objectId": ["type": "String"], "ACL": ["type": "ACL"],
                    "title": ["type": "String", "required": false, "defaultValue": .null],
                    "size": ["type": "Object", "defaultValue": ["width": 1, "height": 2.5]],
                ], "indexes": ["_id_": ["_id": 1]], "classLevelPermissions": ["find": ["*": true]],
            ],
            ["className": "_User", "fields": ["username": ["type": "String"]]],
        ]
        let there: JSONValue = [
            [
                "className": "Book",
                "fields": [
                    "size": ["type": "Object", "defaultValue": ["height": 2.5, "width": 1]],
                    "title": ["type": "String"], "old": ["__op": "Delete"],
                ],
            ]
        ]
        #expect(try lines(here, there) == [])
        #expect(try lines(there, here) == [])
        let users: JSONValue = [["className": "_User", "fields": ["nickname": ["type": "String"]]]]
        #expect(try lines([], users) == ["+ _User.nickname: String"])
    }
}
