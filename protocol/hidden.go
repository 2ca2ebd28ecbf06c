package protocol

// The one table of hidden characters, for Go and for TypeScript: hexadecimal code points and ranges of them. The package
// visible of the sidecar and visible.ts read it.

// HiddenCharacters have no glyph, or change how others are drawn: controls, marks of direction, breaks, joiners, fillers,
// variation selectors, tags. So do halves of surrogate pairs, and the replacement character, which stands for bytes that
// are no text. Line ends and tabs are not among them.
//
//protocol:const hiddenCharacters
const HiddenCharacters = "0-8 b-1f 7f-9f ad 34f 61c 115f-1160 17b4-17b5 180b-180f 200b-200f 2028-202e 2060-206f 2800 3164 " +
	"d800-dfff fe00-fe0f feff ffa0 fff0-fffb fffd 13430-1343f 1bca0-1bca3 1d159 1d173-1d17a e0000-e0fff"

// EmojiCharacters may be followed by a variation selector for the emoji's form, and joined to one emoji.
//
//protocol:const emojiCharacters
const EmojiCharacters = "a9 ae 203c 2049 2122 2139 2194-21aa 231a-23ff 24c2 25aa-25fe 2600-27bf 2934-2935 2b05-2b55 3030 303d " +
	"3297 3299 1f000-1faff"

// JoiningCharacters are of the scripts in which a joiner between two letters changes how the letters are drawn, such as
// those of Persian and of India's languages.
//
//protocol:const joiningCharacters
const JoiningCharacters = "600-8ff 900-dff f00-109f 1780-18af 1b00-1b7f 1cd0-1cff a8e0-a8ff fb50-fdff fe70-fefc 10a00-10a5f " +
	"11000-11fff 1e900-1e95f"
