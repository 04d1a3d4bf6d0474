// Models of chinook.sqlite, written by `relata inspect --format swift`.
// Keep your own code in other files, as extensions: this one is rewritten when the tables change.
// swift-format-ignore-file

import Relata

@Model struct Album {
    @Attribute(column: "AlbumId") var id: Int?
    @Attribute(column: "Title") var title: String
    @Relationship(columns: ["ArtistId"]) var artist: ToOne<Artist>
    @Relationship(deleteRule: .deny, inverse: \Track.album) var tracks: ToMany<Track>
}

@Model struct Artist {
    @Attribute(column: "ArtistId") var id: Int?
    @Attribute(column: "Name") var name: String?
    @Relationship(deleteRule: .deny, inverse: \Album.artist) var albums: ToMany<Album>
}

@Model struct Customer {
    @Attribute(column: "CustomerId") var id: Int?
    @Attribute(column: "FirstName") var firstName: String
    @Attribute(column: "LastName") var lastName: String
    @Attribute(column: "Company") var company: String?
    @Attribute(column: "Address") var address: String?
    @Attribute(column: "City") var city: String?
    @Attribute(column: "State") var state: String?
    @Attribute(column: "Country") var country: String?
    @Attribute(column: "PostalCode") var postalCode: String?
    @Attribute(column: "Phone") var phone: String?
    @Attribute(column: "Fax") var fax: String?
    @Attribute(column: "Email") var email: String
    @Relationship(columns: ["SupportRepId"]) var supportRep: ToOne<Employee>?
    @Relationship(deleteRule: .deny, inverse: \Invoice.customer) var invoices: ToMany<Invoice>
}

@Model struct Employee {
    @Attribute(column: "EmployeeId") var id: Int?
    @Attribute(column: "LastName") var lastName: String
    @Attribute(column: "FirstName") var firstName: String
    @Attribute(column: "Title") var title: String?
    @Relationship(columns: ["ReportsTo"]) var reportsTo: ToOne<Employee>?
    @Attribute(column: "BirthDate") var birthDate: String?
    @Attribute(column: "HireDate") var hireDate: String?
    @Attribute(column: "Address") var address: String?
    @Attribute(column: "City") var city: String?
    @Attribute(column: "State") var state: String?
    @Attribute(column: "Country") var country: String?
    @Attribute(column: "PostalCode") var postalCode: String?
    @Attribute(column: "Phone") var phone: String?
    @Attribute(column: "Fax") var fax: String?
    @Attribute(column: "Email") var email: String?
    @Relationship(deleteRule: .deny, inverse: \Customer.supportRep) var customers: ToMany<Customer>
    @Relationship(deleteRule: .deny, inverse: \Employee.reportsTo) var employees: ToMany<Employee>
}

@Model struct Genre {
    @Attribute(column: "GenreId") var id: Int?
    @Attribute(column: "Name") var name: String?
    @Relationship(deleteRule: .deny, inverse: \Track.genre) var tracks: ToMany<Track>
}

@Model struct Invoice {
    @Attribute(column: "InvoiceId") var id: Int?
    @Relationship(columns: ["CustomerId"]) var customer: ToOne<Customer>
    @Attribute(column: "InvoiceDate") var invoiceDate: String
    @Attribute(column: "BillingAddress") var billingAddress: String?
    @Attribute(column: "BillingCity") var billingCity: String?
    @Attribute(column: "BillingState") var billingState: String?
    @Attribute(column: "BillingCountry") var billingCountry: String?
    @Attribute(column: "BillingPostalCode") var billingPostalCode: String?
    @Attribute(column: "Total") var total: Double
    @Relationship(deleteRule: .deny, inverse: \InvoiceLine.invoice) var invoiceLines: ToMany<InvoiceLine>
}

@Model struct InvoiceLine {
    @Attribute(column: "InvoiceLineId") var id: Int?
    @Relationship(columns: ["InvoiceId"]) var invoice: ToOne<Invoice>
    @Relationship(columns: ["TrackId"]) var track: ToOne<Track>
    @Attribute(column: "UnitPrice") var unitPrice: Double
    @Attribute(column: "Quantity") var quantity: Int
}

@Model struct MediaType {
    @Attribute(column: "MediaTypeId") var id: Int?
    @Attribute(column: "Name") var name: String?
    @Relationship(deleteRule: .deny, inverse: \Track.mediaType) var tracks: ToMany<Track>
}

@Model struct Playlist {
    @Attribute(column: "PlaylistId") var id: Int?
    @Attribute(column: "Name") var name: String?
    @Relationship(joinTable: "PlaylistTrack", joinColumns: ["PlaylistId", "TrackId"]) var tracks: ToMany<Track>
}

@Model struct Track {
    @Attribute(column: "TrackId") var id: Int?
    @Attribute(column: "Name") var name: String
    @Relationship(columns: ["AlbumId"]) var album: ToOne<Album>?
    @Relationship(columns: ["MediaTypeId"]) var mediaType: ToOne<MediaType>
    @Relationship(columns: ["GenreId"]) var genre: ToOne<Genre>?
    @Attribute(column: "Composer") var composer: String?
    @Attribute(column: "Milliseconds") var milliseconds: Int
    @Attribute(column: "Bytes") var bytes: Int?
    @Attribute(column: "UnitPrice") var unitPrice: Double
    @Relationship(deleteRule: .deny, inverse: \InvoiceLine.track) var invoiceLines: ToMany<InvoiceLine>
    @Relationship(inverse: \Playlist.tracks) var playlists: ToMany<Playlist>
}
