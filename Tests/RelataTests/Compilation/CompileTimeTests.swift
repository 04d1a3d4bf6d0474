import Testing

/// The compiler's time for `import Relata` in a file that uses nothing of Relata.
@Suite(.enabled(if: Compiler.arguments != nil, "the built modules and the macros weren't found beside the tests"))
struct CompileTimeTests {
    /// Expressions, and the factor by which the solver's work with them may grow. Every operator that Relata overloads
    /// is another choice for the solver. It stops looking at disfavoured overloads as soon as another one fits.
    @Test(arguments: [
        // Arithmetic, which should compile as fast as without Relata.
        (
            """
            func f(_ a: Double, _ b: Double, _ n: Int) -> Double {
                a * 2 + b * (3 - a * (4 + b * (5 - a * (6 + a * (7 - b))))) - Double(n) * 0.5 + Double(n - 1) / 3
            }
            func g(_ x: Float, _ y: Float) -> Float { -x * -y + (-x + 1) * (-y - 2) / -(x * y - 3) }
            func h(_ a: [Int]) -> [Double] { a.map { Double($0 * 2 + 1) * 0.5 - Double($0 * $0) / 3 + 1 } }
            """, 1.15
        ),
        // Conditions: Swift has only one `&&`, so each additional one gives the solver a choice.
        (
            """
            func f(_ a: Int, _ b: Int, _ s: String?, _ c: Bool) -> Bool {
                (a + 1 > b * 2 && b - 3 < a || a == 3 && !(b != 4)) && (s == nil || s != "x" && c) || a % 2 == 0
            }
            func g(_ a: [Int], _ b: [Int]) -> Bool {
                a.contains { x in b.contains { $0 * 2 + 1 == x - 3 && $0 != x || $0 > x * 2 } }
            }
            """, 2.2
        ),
        // A mistake, for which the solver tries more.
        ("func f(_ a: Int, _ b: String) -> Bool { a + 1 > 2 * b && a * 3 == 4 || b != \"x\" && !(a < 2) }", 5.5),
    ])
    func importingRelataCostsOtherExpressionsLittle(source: String, factor: Double) throws {
        let plain = try Compiler.scopes(in: "import Foundation\n" + source)
        let imported = try Compiler.scopes(in: "import Foundation\nimport Relata\n" + source)
        #expect(plain > 0)
        #expect(Double(imported) <= Double(plain) * factor, "\(imported) scopes with Relata, \(plain) without")
    }

    /// Each of the solver's scopes is an expression or a choice that the code of the macro leaves to it.
    @Test func modelsCompileFast() throws {
        let models = (1...10).map { number in
            """
            @Model struct E\(number) {
                let id: ID<E\(number)>
                var name: String
                var year: Int
                var price: Double?
                var createdAt: Date
                var next: ToOne<E\(number % 10 + 1)>?
                @Relationship(inverse: \\E\((number + 8) % 10 + 1).next) var previous: ToMany<E\((number + 8) % 10 + 1)>
            }
            """
        }
        let scopes = try Compiler.scopes(in: "import Foundation\nimport Relata\n" + models.joined(separator: "\n"))
        #expect(scopes > 0)
        #expect(scopes <= 5_000, "\(scopes) scopes for ten models")
    }
}
