import { openLocal } from '../../../plugins/storage-local/driver.ts';
import { prepareRoot } from '../../../plugins/storage-local/root.ts';

/** Opens the driver for a location in this folder, as STORAGE_LOCAL_ROOT names it. */
export const openTestDriver = async (folder: string) =>
  openLocal(await prepareRoot({ location: 'local', setting: () => folder }, 'nowhere'));
