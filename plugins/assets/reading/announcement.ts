import { announcing } from '../../cluster/contract.ts';

export const CHANGED = 'assets.files';

/** Tells every process when files change, whoever changes them. New ones need no word: nobody remembers what is not there. */
export const announceFiles = announcing({
  id: '2026-11-22-announce-files',
  name: 'platform_assets_changed',
  channel: CHANGED,
  tables: ['platform_files'],
  on: 'update or delete or truncate',
});
