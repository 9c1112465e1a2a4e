/** Red, green and blue from 0 to 255. */
type Color = readonly [red: number, green: number, blue: number];

const HEX = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i;
const RGB = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/i;
/** The least contrast of text to its background (WCAG 2.2, 1.4.3, level AA). */
const TEXT_CONTRAST = 4.5;

/** Parses `#abc`, `#aabbcc` and `rgb(1, 2, 3)`; undefined for anything else. */
export function parseColor(text: string): Color | undefined {
  const hex = HEX.exec(text.trim())?.[1];
  if (hex !== undefined) {
    const parts = hex.length === 3 ? [...hex].map((digit) => digit + digit) : (hex.match(/../g) as string[]);
    return parts.map((part) => Number.parseInt(part, 16)) as unknown as Color;
  }
  const parts = RGB.exec(text.trim())?.slice(1).map(Number);
  return parts?.every((part) => part <= 255) ? (parts as unknown as Color) : undefined;
}

export const renderColor = (color: Color): string =>
  `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

/** The color, as far as needed mixed with white or black, so that it can be read as text on this background. */
export function ensureContrast(color: Color, background: Color): Color {
  const target: Color = luminance(background) > 0.18 ? [0, 0, 0] : [255, 255, 255];
  for (let share = 0; share < 1; share += 0.04) {
    const mixed = color.map((part, at) => part + ((target[at] as number) - part) * share) as unknown as Color;
    if (contrast(mixed, background) >= TEXT_CONTRAST + 0.1) return mixed;
  }
  return target;
}

/** Whether dark or white text is easier to read on this background. */
export const findTextColor = (background: Color, dark: Color): Color =>
  contrast(dark, background) > contrast([255, 255, 255], background) ? dark : [255, 255, 255];

export function contrast(one: Color, other: Color): number {
  const [brighter, darker] = [luminance(one), luminance(other)].toSorted((a, b) => b - a) as [number, number];
  return (brighter + 0.05) / (darker + 0.05);
}

/** Relative luminance (WCAG 2.2). */
function luminance(color: Color): number {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as unknown as Color;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
