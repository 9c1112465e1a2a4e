import { createHash } from 'node:crypto';
import type { SettingsService, SettingsValues } from '../settings/contract.ts';
import type { SafeHtml } from './html.ts';
import { renderPublicNote } from './public-note.ts';
import { assetPathOf, renderThemeCss, type ThemeSettings } from './theme-css.ts';

/** How the pages of this project look. Paths are relative to the root of the service. */
export interface Branding {
  readonly name: string;
  readonly descriptor: string | null;
  readonly logo: string | undefined;
  readonly favicon: string | undefined;
  readonly foreground: string | undefined;
  readonly appearance: 'auto' | 'light' | 'dark';
  readonly note: SafeHtml | undefined;
  readonly theme: ThemeFile;
}

/** The style sheet of the project; its name has a hash of the content. */
export interface ThemeFile {
  readonly name: string;
  readonly content: string;
}

function createThemeFile(settings: ThemeSettings): ThemeFile {
  const content = renderThemeCss(settings);
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12);
  return { name: `theme-${hash}.css`, content };
}

const isFixedAppearance = (value: string): value is 'light' | 'dark' => value === 'light' || value === 'dark';

async function createBranding(settings: SettingsValues): Promise<Branding> {
  const { project_name, project_descriptor, project_logo, public_favicon, public_foreground } = settings;
  const { default_appearance, public_note } = settings;
  return {
    name: project_name,
    descriptor: project_descriptor,
    logo: assetPathOf(project_logo),
    favicon: assetPathOf(public_favicon),
    foreground: assetPathOf(public_foreground),
    appearance: isFixedAppearance(default_appearance) ? default_appearance : 'auto',
    note: public_note ? await renderPublicNote(public_note) : undefined,
    theme: createThemeFile(settings),
  };
}

/** For pages that say that the service is not available. */
const DEFAULT_BRANDING: Branding = {
  name: 'Tenon',
  descriptor: null,
  logo: undefined,
  favicon: undefined,
  foreground: undefined,
  appearance: 'auto',
  note: undefined,
  theme: createThemeFile({ project_color: null, public_background: null, custom_css: null }),
};

/** Reads the branding; the default one where settings cannot be read, so that a page can always be shown. */
export type ReadBranding = () => Promise<Branding>;

export function createBrandingReader(settings: SettingsService): ReadBranding {
  /** Brandings by the settings they are made of, which are the same object until the row changes. */
  const brandings = new WeakMap<SettingsValues, Promise<Branding>>();
  return async () => {
    try {
      const values = await settings.current();
      const branding = brandings.get(values) ?? createBranding(values);
      brandings.set(values, branding);
      return await branding;
    } catch {
      return DEFAULT_BRANDING;
    }
  };
}
