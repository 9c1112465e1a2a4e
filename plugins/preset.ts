import type { Composition } from '#kernel';

/** The whole product, floor by floor: a plugin uses what stands on its own floor or below. */
export const floors = [
  {
    floor: 'ground',
    plugins: [
      'database',
      'cluster',
      'http',
      'passwords',
      'secrets',
      'outbound',
      'templates',
      'graphql-fields',
      'storage',
      'storage-local',
      'storage-s3',
      'media',
    ],
  },
  { floor: 'model', plugins: ['schema', 'query', 'access', 'activity', 'sandbox'] },
  {
    floor: 'content',
    plugins: [
      'collections',
      'items',
      'users',
      'auth',
      'folders',
      'settings',
      'files',
      'assets',
      'tus',
      'presets',
      'notifications',
      'dashboards',
      'translations',
      'comments',
      'history',
      'operations',
      'extension-settings',
    ],
  },
  { floor: 'surfaces', plugins: ['server', 'explain', 'graphql', 'extensions'] },
] as const;

/** Folders of all plugins, in floor order; `local` names a folder of packages made by others. */
export const composition = (options: Pick<Composition, 'local'> = {}): Composition => ({
  plugins: floors.flatMap(({ plugins }) => plugins.map((name) => new URL(`./${name}/`, import.meta.url))),
  ...options,
});
