import { isUuid } from '../database/library.ts';
import type { SettingsValues } from '../settings/contract.ts';
import { ensureContrast, findTextColor, parseColor, renderColor } from './contrast.ts';

/** Where `project_color` is not set, or is no color that `parseColor` knows. */
const DEFAULT_COLOR = '#2f5bd7';
/** Backgrounds of `browser/pages.css`, on which the project's color is text of links and the area of buttons. */
const LIGHT = parseColor('#ffffff') as NonNullable<ReturnType<typeof parseColor>>;
const DARK = parseColor('#15171c') as NonNullable<ReturnType<typeof parseColor>>;

export type ThemeSettings = Pick<SettingsValues, 'project_color' | 'public_background' | 'custom_css'>;

/** Path of a file of the settings, relative to the root of the service; undefined where it is not set. */
export const assetPathOf = (id: string | null): string | undefined =>
  id !== null && isUuid(id) ? `assets/${id}` : undefined;

/**
 * The style sheet of the project: its color in shades that can be read, its background, and `custom_css` at the end. It is a file of its
 * own, so `custom_css` cannot close a style element; the content security policy of the pages keeps it from loading from other hosts.
 */
export function renderThemeCss({ project_color, public_background, custom_css }: ThemeSettings): string {
  const color = parseColor(project_color ?? '') ?? (parseColor(DEFAULT_COLOR) as typeof LIGHT);
  const light = ensureContrast(color, LIGHT);
  const dark = ensureContrast(color, DARK);
  const background = assetPathOf(public_background);
  const variables = {
    'project-color': renderColor(color),
    'accent-light': renderColor(light),
    'on-accent-light': renderColor(findTextColor(light, DARK)),
    'accent-dark': renderColor(dark),
    'on-accent-dark': renderColor(findTextColor(dark, DARK)),
    ...(background === undefined ? {} : { 'scene-image': `url("../../${background}")` }),
  };
  const lines = Object.entries(variables).map(([name, value]) => `  --${name}: ${value};`);
  return `:root {\n${lines.join('\n')}\n}\n${custom_css ? `\n${custom_css}\n` : ''}`;
}
