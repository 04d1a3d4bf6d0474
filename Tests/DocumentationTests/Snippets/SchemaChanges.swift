import Foundation
import Relata
import Testing

// docs: hide
/// The model as it was in the first version of the program.
enum FirstVersion {
    @Model(table: "Product") struct Product {
        var id: Int?
        var label: String
        var price: Double
        var legacyCode: String?
    }
}
// docs: show

// docs: hide
/// The model before its property was renamed.
enum OldVersion {
    @Model(table: "Tool") struct Tool {
        var id: Int?
        var title: String
    }
}
// docs: show

@Model struct Tool {
    var id: Int?
    @Attribute(originalName: ["title", "label"]) var name: String
}

@Test func anOlderVersion() async throws {
    try await example {
        // docs: hide
        let old = try await Store.open(temporary("tools.sqlite"), for: OldVersion.Tool.self)
        try await old.insert(OldVersion.Tool(title: "Saw"))
        try old.close()
        let new = try await Store.open(temporary("tools.sqlite"), for: Tool.self)
        #expect(try await new.fetch(Tool.all).map(\.name) == ["Saw"])
        try new.close()
        // docs: show
        do {
            _ = try await Store.open(temporary("tools.sqlite"), for: OldVersion.Tool.self)
        } catch RelataError.schemaMismatch(let problems) {
            for problem in problems { print(problem) }
        }
        // docs: hide
        try printed(in: "Documentation/SchemaChanges.md")
        // docs: show
    }
}

@Model struct Product {
    var id: Int?
    @Attribute(originalName: "label") var name: String
    var price: Int
    var stock: Int = 0
    var supplier: ToOne<Supplier>?
}

@Model struct Supplier {
    var id: Int?
    var name: String
}

@Test func aLossyChange() async throws {
    try await example {
        // docs: hide
        let old = try await Store.open(temporary("shop.sqlite"), for: FirstVersion.Product.self)
        try await old.insert(FirstVersion.Product(label: "Lamp", price: 19.9, legacyCode: "L-1"))
        try old.close()
        // docs: show
        print(try Store.pendingMigration(temporary("shop.sqlite"), for: Product.self))
        // docs: hide
        try printed(in: "Documentation/SchemaChanges.md")
        // docs: show

        do {
            _ = try await Store.open(temporary("shop.sqlite"), for: Product.self)
        } catch RelataError.schemaMismatch(let problems) {
            for problem in problems { print(problem) }
        }
        // docs: hide
        try printed(in: "Documentation/SchemaChanges.md")
        // docs: show

        var options = Store.Options()
        options.migrations = [
            MigrationStep(
                "prices in cents", taking: .changing("Product.price"), .dropping("Product.legacyCode")
            ) { tx in
                try tx.execute("UPDATE Product SET price = CAST(round(price * 100) AS INTEGER)")
            }
        ]
        let store = try await Store.open(temporary("shop.sqlite"), for: Product.self, options: options)
        for product in try await store.fetch(Product.all) { print(product.name, product.price, product.stock) }
        // docs: hide
        try printed(in: "Documentation/SchemaChanges.md")
        // docs: show
    }
}
