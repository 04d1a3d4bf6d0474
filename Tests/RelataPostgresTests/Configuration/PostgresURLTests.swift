#if PostgreSQL
import RelataCore
import RelataPostgres
import Testing

@Suite struct PostgresURLTests {
    @Test(arguments: ["mysql://u:hunter2@h/d", "host=h password=hunter2", "", "postgres:/u:hunter2@h/d"])
    func invalidPostgreSQLURLsAreRefused(_ text: String) {
        #expect { try PostgresURL(text) } throws: { error in
            !"\(error)".contains("hunter2") && "\(error)".contains("postgresql://user:password@host:5432/database")
        }
    }

    @Test(arguments: [
        "postgres://u:hunter2%zz@h/d", "postgres://u:p\"hunter2%zz\"@h/d", "postgres://h/d?password=hunter2&nonsense=1",
        "postgres://h/d?hunter2", "postgres://h/d?hunter2=a=b", "postgresql://u:hunter2@[::1/d",
        "postgres://h/d?sslmode=%00hunter2",
        "postgres://u:\0hunter2@h/d",
    ])
    func anErrorDoesNotTellThePassword(_ text: String) {
        #expect { try PostgresURL(text) } throws: { !"\($0)".contains("hunter2") && $0 is RelataError }
    }

    @Test func descriptionsHideThePassword() throws {
        let url = try PostgresURL(
            "postgres://me:hunter2@a:5433,b:5434/library?sslpassword=hunter2&target_session_attrs=read-write")
        var dumped = ""
        dump(url, to: &dumped)
        for text in ["\(url)", String(reflecting: url), dumped, "\([url])", "\(Optional(url) as Any)"] {
            #expect(!text.contains("hunter2"))
        }
        #expect("\(url)" == "postgresql://me@a:5433,b:5434/library")
        #expect(url.database == "library")
    }

    @Test func anotherDatabaseOfTheSameServerKeepsTheOptions() throws {
        let url = try PostgresURL("postgres://me:secret@a:5433/library?sslmode=require")
        let other = try url.with(database: "a/b?c@d é")
        #expect(other.database == "a/b?c@d é")
        #expect("\(other)" == "postgresql://me@a:5433/a/b?c@d é")
        #expect(try PostgresURL("postgres://?host=/tmp").with(database: "x").database == "x")
        #expect(try PostgresURL("postgres://h").with(database: "x").database == "x")
    }
}
#endif
