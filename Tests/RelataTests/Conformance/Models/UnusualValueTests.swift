import Foundation
import Relata
import Testing

/// The largest and the most unusual values that a column can hold.
@Suite struct UnusualValueTests {
    @Test(arguments: Engine.allCases) func emptyTextIsAValidKey(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        let isbn = try store.insert(ISBN(value: ""))
        try store.insert(Book(title: "x", isbn: ToOne(isbn)))
        #expect(try store.load(isbn) { $0.book }.book.object?.title == "x")
        #expect(try store.count(ISBN.where { $0.value.in([""]) }) == 1)
        #expect(try store.delete(isbn).deletedCount == 1)
        #expect(try store.count(ISBN.all) == 0)
    }

    @Test(arguments: Engine.allCases) func datesWithoutAnISO8601TextAreRefused(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Sample.self)
        for seconds in [1e12, -1e11] {
            let sample = Sample(isoDate: Date(timeIntervalSince1970: seconds))
            #expect(thrown { try store.insert(sample) }?.failures == ["isoDate"])
        }
        let far = Date(timeIntervalSince1970: 1e12)
        #expect(thrown { try store.update(Sample.all) { $0.isoDate.set(to: far) } } != nil)
        #expect(thrown { try store.count(Sample.where { $0.isoDate < far }) } != nil)
        #expect(thrown { try store.count(Sample.matching("isoDate < %@", far)) } != nil)
        let last = Date(timeIntervalSince1970: 253_402_300_799)
        let sample = try store.insert(Sample(date: Date(timeIntervalSince1970: 1e12), isoDate: last))
        #expect(try store.refresh(sample) == sample)
    }

    @Test(arguments: Engine.allCases) func notANumberIsRefusedByEveryWayOfWriting(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self, Sample.self)
        try store.insert(Book(title: "x", price: 1))
        #expect(thrown { try store.update(Book.all) { $0.price.set(to: .nan) } } != nil)
        #expect(
            thrown { try store.insert(Sample(secondsDate: Date(timeIntervalSince1970: .nan))) }?.kind == "validation")
        #expect(try store.fetch(Book.all).map(\.price) == [1] && store.count(Sample.all) == 0)
    }
}
