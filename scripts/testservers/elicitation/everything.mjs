// The longest form that MCP allows: every type, bound and format, optional and required.
// @ts-check

export const everything = {
  message: [
    "Tell the *Hotel at the End of Everything* **all** that it may ask:",
    "",
    "- what you are called,",
    "- when you come, and with whom,",
    "- and what you would like.",
  ].join("\n"),
  requestedSchema: {
    type: "object",
    properties: {
      name: { type: "string", title: "Full name", minLength: 2, maxLength: 40 },
      booking: {
        type: "string",
        title: "Booking code",
        description: "Three capitals, a hyphen and four digits, as in ABC-1234.",
        pattern: "^[A-Z]{3}-[0-9]{4}$",
      },
      notes: { type: "string", title: "Notes", description: "As many lines as you like." },
      email: { type: "string", title: "Email", format: "email" },
      website: { type: "string", title: "Website", format: "uri" },
      arrival: { type: "string", title: "Arrival", format: "date" },
      departure: { type: "string", title: "Departure", format: "date-time" },
      guests: { type: "integer", title: "Guests", minimum: 1, maximum: 12 },
      budget: { type: "number", title: "Budget", minimum: 0.5, maximum: 1000 },
      breakfast: { type: "boolean", title: "Breakfast", default: true },
      newsletter: { type: "boolean", title: "Newsletter" },
      room: {
        type: "string",
        title: "Room",
        enum: ["s", "d"],
        enumNames: ["Single room", "Double room"],
      },
      country: {
        type: "string",
        title: "Country",
        oneOf: [
          { const: "at", title: "Austria" },
          { const: "be", title: "Belgium" },
          { const: "fr", title: "France" },
          { const: "is", title: "Iceland" },
          { const: "pt", title: "Portugal" },
        ],
      },
      floor: { type: "string", title: "Floor", enum: ["low", "high"], default: "low" },
      extras: {
        type: "array",
        title: "Extras",
        items: { type: "string", enum: ["bicycle", "parking", "towels"] },
        minItems: 1,
        maxItems: 2,
      },
      languages: {
        type: "array",
        title: "Languages",
        items: {
          anyOf: [
            { const: "de", title: "German" },
            { const: "en", title: "English" },
            { const: "fr", title: "French" },
          ],
        },
        default: ["en"],
      },
    },
    required: ["name", "email", "arrival", "guests", "room", "country", "extras"],
  },
};
