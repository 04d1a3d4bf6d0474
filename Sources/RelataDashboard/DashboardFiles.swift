/// The files of the dashboard, as they are in the folder `web`.
package enum DashboardFiles {
    /// The bytes of each file, by its name.
    package static let all: [String: [UInt8]] = [
        "api.js": PackageResources.api_js,
        "app.js": PackageResources.app_js,
        "changes.js": PackageResources.changes_js,
        "class-page.js": PackageResources.class_page_js,
        "columns.js": PackageResources.columns_js,
        "deletion.js": PackageResources.deletion_js,
        "dom.js": PackageResources.dom_js,
        "editors.js": PackageResources.editors_js,
        "edits.js": PackageResources.edits_js,
        "filter.js": PackageResources.filter_js,
        "grid.js": PackageResources.grid_js,
        "icon.svg": PackageResources.icon_svg,
        "index.html": PackageResources.index_html,
        "inspector.js": PackageResources.inspector_js,
        "language.js": PackageResources.language_js,
        "login.js": PackageResources.login_js,
        "names.js": PackageResources.names_js,
        "overlay.js": PackageResources.overlay_js,
        "place.js": PackageResources.place_js,
        "predicate.js": PackageResources.predicate_js,
        "query-dialog.js": PackageResources.query_dialog_js,
        "rows.js": PackageResources.rows_js,
        "schema-page.js": PackageResources.schema_page_js,
        "schema.js": PackageResources.schema_js,
        "strings.en.js": PackageResources.strings_en_js,
        "strings.zh-Hans.js": PackageResources.strings_zh_Hans_js,
        "style.css": PackageResources.style_css,
        "values.js": PackageResources.values_js,
    ]
}
