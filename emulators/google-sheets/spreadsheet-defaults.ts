import type { sheets_v4 } from '@googleapis/sheets'

/** Properties of a new spreadsheet, as Google answered them for a fresh file (see recordings.json). */
export function freshProperties(title: string): sheets_v4.Schema$SpreadsheetProperties {
  return {
    title,
    locale: 'en_US',
    autoRecalc: 'ON_CHANGE',
    timeZone: 'Etc/GMT',
    defaultFormat,
    spreadsheetTheme,
  }
}

const white = { red: 1, green: 1, blue: 1 }

const defaultFormat: sheets_v4.Schema$CellFormat = {
  backgroundColor: white,
  padding: { top: 2, right: 3, bottom: 2, left: 3 },
  verticalAlignment: 'BOTTOM',
  wrapStrategy: 'OVERFLOW_CELL',
  textFormat: {
    foregroundColor: {},
    fontFamily: 'arial,sans,sans-serif',
    fontSize: 10,
    bold: false,
    italic: false,
    strikethrough: false,
    underline: false,
    foregroundColorStyle: { rgbColor: {} },
  },
  backgroundColorStyle: { rgbColor: white },
}

const themeColors: Readonly<Record<string, sheets_v4.Schema$Color>> = {
  TEXT: {},
  BACKGROUND: white,
  ACCENT1: { red: 0.25882354, green: 0.52156866, blue: 0.95686275 },
  ACCENT2: { red: 0.91764706, green: 0.2627451, blue: 0.20784314 },
  ACCENT3: { red: 0.9843137, green: 0.7372549, blue: 0.015686275 },
  ACCENT4: { red: 0.20392157, green: 0.65882355, blue: 0.3254902 },
  ACCENT5: { red: 1, green: 0.42745098, blue: 0.003921569 },
  ACCENT6: { red: 0.27450982, green: 0.7411765, blue: 0.7764706 },
  LINK: { red: 0.06666667, green: 0.33333334, blue: 0.8 },
}

const spreadsheetTheme: sheets_v4.Schema$SpreadsheetTheme = {
  primaryFontFamily: 'Arial',
  themeColors: Object.entries(themeColors).map(([colorType, rgbColor]) => ({
    colorType,
    color: { rgbColor },
  })),
}
