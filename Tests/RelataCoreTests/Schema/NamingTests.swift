import RelataCore
import Testing

@Suite struct NamingTests {
    @Test(arguments: [
        ("AlbumId", "albumId"), ("album_id", "albumId"), ("ISBN", "isbn"), ("URLCache", "urlCache"), ("name", "name"),
        ("FIRST_NAME", "firstName"), ("Unit Price", "unitPrice"), ("2nd", "_2nd"), ("order-line", "orderLine"),
    ])
    func propertiesAreInLowerCamelCase(name: String, expected: String) {
        #expect(Naming.lowerCamelCase(name) == expected)
    }

    @Test(arguments: [
        ("album", "albums"), ("category", "categories"), ("box", "boxes"), ("series", "series"), ("person", "people"),
        ("mediaType", "mediaTypes"), ("invoiceLine", "invoiceLines"), ("child", "children"), ("day", "days"),
        ("class", "classes"), ("status", "statuses"), ("orderItems", "orderItems"), ("bus", "buses"),
        ("salesPerson", "salesPeople"), ("history", "histories"),
    ])
    func pluralsAreEnglish(singular: String, plural: String) {
        #expect(Naming.plural(singular) == plural)
        if !singular.hasSuffix("s") || singular.hasSuffix("ss") || singular.hasSuffix("us") {
            #expect(Naming.singular(plural) == singular)
        }
    }

    @Test func singularNamesStayUnchanged() {
        for word in ["following", "address", "bus", "news", "analysis"] { #expect(Naming.singular(word) == word) }
    }

    @Test func aShortWordKeepsItsVowel() {
        #expect(Naming.singular("ties") == "tie")
        #expect(Naming.singular("flies") == "fly")
    }
}
