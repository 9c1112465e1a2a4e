import { announcing, type Bus } from '../cluster/contract.ts';
import { type Db, identifier } from '../database/contract.ts';
import { SETTINGS } from './collections.ts';
import type { Settings, SettingsValues } from './contract.ts';

const CHANGED = 'settings.changed';

/** What holds where nobody has set anything: what the columns default to. */
const DEFAULTS: SettingsValues = {
  project_name: 'Tenon',
  project_descriptor: null,
  project_url: null,
  project_color: null,
  project_logo: null,
  public_foreground: null,
  public_background: null,
  public_favicon: null,
  public_note: null,
  default_language: 'en-US',
  custom_css: null,
  storage_asset_transform: 'all',
  storage_asset_presets: null,
  storage_default_folder: null,
};
/** They have a default, and nothing else to mean where they are null. */
const NEVER_NULL = ['project_name', 'default_language'] as const;

const tableOf = (db: Pick<Db, 'schemas'>): string => `${identifier(db.schemas[0] as string)}.${SETTINGS}`;

export interface Remembered extends Settings {
  forget(): void;
}

/** The row from memory: asked for once, and again after anybody changed it anywhere. */
export function rememberedSettings(db: Pick<Db, 'query' | 'schemas' | 'isInside'>, bus: Bus): Remembered {
  let known: Promise<SettingsValues> | undefined;
  const forget = () => {
    known = undefined;
  };
  bus.subscribe(CHANGED, forget);
  bus.onGap(forget);

  async function read(): Promise<SettingsValues> {
    const columns = Object.keys(DEFAULTS).map(identifier).join(', ');
    const { rows } = await db.query<SettingsValues>(`select ${columns} from ${tableOf(db)} limit 1`, [], {
      name: 'settings_current',
    });
    const [row] = rows;
    if (!row) return DEFAULTS;
    const filled = NEVER_NULL.map((name) => [name, row[name] ?? DEFAULTS[name]]);
    return { ...row, ...Object.fromEntries(filled) };
  }

  return {
    current() {
      // A unit of work may have changed the row itself, and may yet fail.
      if (db.isInside()) return read();
      if (!known) {
        const asked = read();
        known = asked;
        asked.catch(() => {
          if (known === asked) known = undefined;
        });
      }
      return known;
    },
    forget,
  };
}

/** Tells every process, whoever changes the row. */
export const announceSettings = announcing({
  id: '2026-11-22-announce-settings',
  name: 'platform_settings_changed',
  channel: CHANGED,
  tables: [SETTINGS],
});
