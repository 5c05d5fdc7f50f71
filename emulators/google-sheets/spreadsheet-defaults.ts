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

const defaultFormat: sheets_v4.Schema$CellFormat = {
  backgroundColor: {
    red: 1,
    green: 1,
    blue: 1,
  },
  padding: {
    top: 2,
    right: 3,
    bottom: 2,
    left: 3,
  },
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
    foregroundColorStyle: {
      rgbColor: {},
    },
  },
  backgroundColorStyle: {
    rgbColor: {
      red: 1,
      green: 1,
      blue: 1,
    },
  },
}

const spreadsheetTheme: sheets_v4.Schema$SpreadsheetTheme = {
  primaryFontFamily: 'Arial',
  themeColors: [
    {
      colorType: 'TEXT',
      color: {
        rgbColor: {},
      },
    },
    {
      colorType: 'BACKGROUND',
      color: {
        rgbColor: {
          red: 1,
          green: 1,
          blue: 1,
        },
      },
    },
    {
      colorType: 'ACCENT1',
      color: {
        rgbColor: {
          red: 0.25882354,
          green: 0.52156866,
          blue: 0.95686275,
        },
      },
    },
    {
      colorType: 'ACCENT2',
      color: {
        rgbColor: {
          red: 0.91764706,
          green: 0.2627451,
          blue: 0.20784314,
        },
      },
    },
    {
      colorType: 'ACCENT3',
      color: {
        rgbColor: {
          red: 0.9843137,
          green: 0.7372549,
          blue: 0.015686275,
        },
      },
    },
    {
      colorType: 'ACCENT4',
      color: {
        rgbColor: {
          red: 0.20392157,
          green: 0.65882355,
          blue: 0.3254902,
        },
      },
    },
    {
      colorType: 'ACCENT5',
      color: {
        rgbColor: {
          red: 1,
          green: 0.42745098,
          blue: 0.003921569,
        },
      },
    },
    {
      colorType: 'ACCENT6',
      color: {
        rgbColor: {
          red: 0.27450982,
          green: 0.7411765,
          blue: 0.7764706,
        },
      },
    },
    {
      colorType: 'LINK',
      color: {
        rgbColor: {
          red: 0.06666667,
          green: 0.33333334,
          blue: 0.8,
        },
      },
    },
  ],
}
