import type { CorePluginFolders } from '#kernel/boot';

/** All core plugins by floor: a plugin may use plugins of its own floor or below. */
export const CORE_PLUGIN_FLOORS = [
  {
    floor: 'ground',
    plugins: [
      'broker',
      'workers',
      'database',
      'cluster',
      'schedule',
      'http',
      'queue',
      'redis',
      'passwords',
      'secrets',
      'outbound',
      'pressure-limit',
      'rate-limit',
      'templates',
      'mail',
      'mail-smtp',
      'mail-sendmail',
      'mail-ses',
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
      'auth-providers',
      'auth-ldap',
      'folders',
      'settings',
      'files',
      'assets',
      'tus',
      'presets',
      'notifications',
      'mail-notifications',
      'dashboards',
      'translations',
      'comments',
      'history',
      'flows',
      'extension-settings',
    ],
  },
  {
    floor: 'surfaces',
    plugins: [
      'server',
      'explain',
      'graphql',
      'cache',
      'extensions',
      'extensions-app',
      'extensions-consent',
      'extensions-required',
      'extensions-full',
      'extensions-confined',
    ],
  },
] as const;

/** Folders of all core plugins, in floor order. */
export const listCorePlugins = (): CorePluginFolders => ({
  plugins: CORE_PLUGIN_FLOORS.flatMap(({ plugins }) => plugins.map((name) => new URL(`./${name}/`, import.meta.url))),
});
