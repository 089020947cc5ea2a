import type { ThemeConfig } from 'antd'

/** What antd is told of the colours in `tokens.css`. */
interface Palette {
  primary: string
  ok: string
  warn: string
  bad: string
  wait: string
  ink: string
  ink2: string
  bg: string
  surface: string
  line: string
  okSoft: string
  warnSoft: string
  badSoft: string
  primarySoft: string
  /** Text on a filled button. */
  onPrimary: string
  tooltip: string
}

const LIGHT: Palette = {
  primary: '#0b6a72',
  ok: '#1a7045',
  warn: '#855400',
  bad: '#ad3125',
  wait: '#46579b',
  ink: '#16232a',
  ink2: '#4d5c63',
  bg: '#f4f6f5',
  surface: '#ffffff',
  line: '#dce3e1',
  okSoft: '#e2f3e9',
  warnSoft: '#fbf0d9',
  badSoft: '#fbe8e5',
  primarySoft: '#e0f0ef',
  onPrimary: '#ffffff',
  tooltip: '#22333b',
}

const DARK: Palette = {
  primary: '#63c8c7',
  ok: '#74d19b',
  warn: '#e8ba64',
  bad: '#f3978b',
  wait: '#abb8f0',
  ink: '#e6eef0',
  ink2: '#a6b6bc',
  bg: '#0e1518',
  surface: '#162126',
  line: '#2a383e',
  okSoft: '#153322',
  warnSoft: '#352a10',
  badSoft: '#3d1f1b',
  primarySoft: '#12353a',
  onPrimary: '#08191b',
  tooltip: '#d4e1e4',
}

export function paletteOf(dark: boolean): Palette {
  return dark ? DARK : LIGHT
}

export function antdTokens(dark: boolean): NonNullable<ThemeConfig['token']> {
  const colours = paletteOf(dark)
  return {
    colorPrimary: colours.primary,
    colorInfo: colours.primary,
    colorLink: colours.primary,
    colorSuccess: colours.ok,
    colorWarning: colours.warn,
    colorError: colours.bad,
    colorInfoBg: colours.primarySoft,
    colorSuccessBg: colours.okSoft,
    colorSuccessBorder: colours.okSoft,
    colorWarningBg: colours.warnSoft,
    colorWarningBorder: colours.warnSoft,
    colorErrorBg: colours.badSoft,
    colorErrorBorder: colours.badSoft,
    colorText: colours.ink,
    colorTextSecondary: colours.ink2,
    colorTextDescription: colours.ink2,
    colorTextPlaceholder: colours.ink2,
    colorBgLayout: colours.bg,
    colorBgContainer: colours.surface,
    colorBgElevated: colours.surface,
    colorBorder: colours.line,
    colorBorderSecondary: colours.line,
    colorTextLightSolid: colours.onPrimary,
    colorBgSpotlight: colours.tooltip,
    borderRadius: 8,
    fontSize: 14,
    controlHeight: 36,
    fontFamily: 'inherit',
    wireframe: false,
  }
}
