import Foundation
import Relata
import Testing

/// Sums and averages, of all objects and of related ones.
@Suite struct FigureTests {
    @Test(arguments: Engine.allCases) func theAverageOfDecimalsIsADouble(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Sample.self)
        #expect(try store.value(of: Sample.all) { $0.decimal.average() } == nil)
        try store.insert([Sample(decimal: 1.5), Sample(decimal: 2)])
        #expect(try store.value(of: Sample.all) { $0.decimal.average() } == 1.75)
        #expect(try store.value(of: Sample.all) { $0.decimal.sum() } == 3.5)
        #expect(
            try store.fetch(Sample.all.grouped { $0.flag }.having { $0.decimal.average() > 1.7 }.select { ($0.flag) })
                .count == 1)
    }

    @Test(arguments: Engine.allCases) func figuresOfDecimalsArePartsOfShapes(_ engine: Engine) throws {
        let store = try Discs(engine).store
        let bands = try store.fetch(BandPrices.sorted { $0.name })
        #expect(bands.map(\.average) == [9.995, 100, 4.75])
        #expect(bands.map(\.filled) == [9.995, 100, 4.75])
        #expect(bands.map(\.total) == [Decimal(string: "19.99"), 100, Decimal(string: "9.5")])
        #expect(bands.map(\.lowest) == [Decimal(string: "9.99"), 100, 0])
        let empty = try store.insert(Band(name: "Dee"))
        #expect(try store.fetch(BandPrices.where { $0.id == empty.id }).map(\.average) == [nil])
        // The same in conditions, orders, groups and arithmetic.
        #expect(try store.fetch(Band.where { $0.discs.average { $0.price } > 9.995 }).map(\.name) == ["Bee"])
        #expect(try store.fetch(Band.where { $0.discs.average { $0.price } == 9.995 }).map(\.name) == ["Ash"])
        let dearest = Band.sorted { $0.discs.average { $0.price }.descending }
        #expect(try store.fetch(dearest).map(\.name) == ["Bee", "Ash", "Cid", "Dee"])
        let groups = Disc.all.grouped { $0.band.name }.having { $0.price.average() < 50 }
            .select { ($0.band.name, $0.price.average().or(0) * 2) }
        #expect(try store.fetch(groups).map(\.1).sorted() == [9.5, 19.99])
    }

    @Test(arguments: Engine.allCases) func figuresOfSomeRelatedObjects(_ engine: Engine) throws {
        let store = try Discs(engine).store
        let bands = Band.sorted { $0.name }
        let sums = try store.fetch(
            bands.select { band in
                (
                    band.discs.sum {
                        $0.copies
                    } where: {
                        $0.isLive
                    },
                    band.discs.sum {
                        $0.price
                    } where: {
                        $0.price < 50
                    },
                    band.discs.sum {
                        $0.rating
                    } where: {
                        $0.copies > 0
                    },
                    band.discs.pieces.sum {
                        $0.seconds
                    } where: {
                        $0.disc.isLive
                    }
                )
            })
        #expect(sums.map(\.0) == [0, 0, -3])
        #expect(sums.map(\.1) == [Decimal(string: "19.99"), 0, Decimal(string: "9.5")])
        #expect(sums.map(\.2) == [4.5, 3, 1])
        #expect(sums.map(\.3) == [50, 0, 700])
        let others = try store.fetch(
            bands.select { band in
                (
                    band.discs.minimum {
                        $0.copies
                    } where: {
                        $0.copies > 0
                    },
                    band.discs.maximum {
                        $0.rating
                    } where: {
                        !$0.isLive
                    },
                    band.discs.average {
                        $0.price
                    } where: {
                        $0.isLive
                    }
                )
            })
        #expect(others.map(\.0) == [10, 7, 3])
        #expect(others.map(\.1) == [4.5, 3, 1])
        #expect(others.map(\.2) == [10, nil, 9.5])
        #expect(
            try store.fetch(Band.where { $0.discs.sum({ $0.copies }, where: { $0.isLive }) < 0 }).map(\.name) == ["Cid"]
        )
    }

    @Test(arguments: Engine.allCases) func sumsAreWiderThanTheirNumbers(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Sample.self)
        #expect(try store.value(of: Sample.all) { $0.uint8.sum() } == 0)
        try store.insert([Sample(uint8: 200), Sample(uint8: 100)])
        #expect(try store.value(of: Sample.all) { $0.uint8.sum() } == 300)
        #expect(try store.value(of: Sample.all) { $0.double.sum() } == 0)
    }

    @Test(arguments: Engine.allCases) func sumsOfRelatedObjects(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        try store.save([
            Genre(name: "a", books: ToMany([Book(title: "1", year: 3), Book(title: "2", year: 4)])), Genre(name: "b"),
        ])
        let sums = try store.fetch(
            Genre.sorted { $0.name }.select { ($0.name, $0.books.sum { $0.year }, $0.books.average { $0.year }) })
        #expect(sums.map(\.1) == [7, 0] && sums.map(\.2) == [3.5, nil])
    }

    @Test(arguments: Engine.allCases) func aggregatesOfOptionalValues(_ engine: Engine) throws {
        let store = try Discs(engine).store
        let figures = try store.fetch(BandFigures.sorted { $0.name })
        #expect(figures.map(\.name) == ["Ash", "Bee", "Cid"])
        #expect(figures.map(\.worst) == [4.5, 3, 1] && figures.map(\.best) == [4.5, 3, 4.5])
        #expect(figures.map(\.total) == [4.5, 3, 5.5])
        #expect(figures[0].latest == Discs.date("2001-02-03T04:05:06Z") && figures[1].latest == nil)
        let bands = Band.sorted { $0.name }
        let best: [Double?] = try store.fetch(bands.select { $0.discs.maximum { $0.rating } })
        #expect(best == [4.5, 3, 4.5])
        let founded: Int? = try store.value(of: City.all) { $0.population.maximum() }
        #expect(founded == 700)
        let largest: Int? = try store.value(of: City.where { $0.population == nil }) { $0.population.maximum() }
        #expect(largest == nil)
        let sum: Double = try store.value(of: Disc.all) { $0.rating.sum() }
        #expect(sum == 13)
    }
}

@Shape(of: Band.self) struct BandPrices {
    var name: String
    @Average(\.discs.price) var average: Double?
    var filled: Double
    static let filled = from { $0.discs.average { $0.price }.or(0) }
    @Sum(\.discs.price) var total: Decimal
    @Minimum(\.discs.price) var lowest: Decimal?
}

@Shape(of: Band.self) struct BandFigures {
    var name: String
    @Minimum(\.discs.rating) var worst: Double?
    @Maximum(\.discs.rating) var best: Double?
    @Sum(\.discs.rating) var total: Double
    @Maximum(\.discs.released) var latest: Date?
}
