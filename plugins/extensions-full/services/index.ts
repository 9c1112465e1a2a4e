import type { Kit } from '../kit.ts';
import { actingClass, type ServiceOptions } from './acting.ts';
import { filesServiceClass } from './files.ts';
import { itemsServiceClass } from './items.ts';
import { schemaServiceClasses } from './schema.ts';

/** Services that are the items service over one collection of the platform's own. */
const COLLECTIONS = {
  ActivityService: 'platform_activity',
  CommentsService: 'platform_comments',
  DashboardsService: 'platform_dashboards',
  FoldersService: 'platform_folders',
  NotificationsService: 'platform_notifications',
  PanelsService: 'platform_panels',
  PermissionsService: 'platform_permissions',
  PresetsService: 'platform_presets',
  RevisionsService: 'platform_revisions',
  RolesService: 'platform_roles',
  SettingsService: 'platform_settings',
  TranslationsService: 'platform_translations',
  UsersService: 'platform_users',
} as const;

export type Services = ReturnType<typeof createServices>;

/**
 * The member `services` of the context: thin classes over the service's own verbs, of this extension alone, so that what
 * they do without accountability is done in its name.
 */
export function createServices(kit: Kit) {
  const Acting = actingClass(kit);
  const ItemsService = itemsServiceClass(kit, Acting);
  const over = (name: string, collection: string) => {
    const made = class extends ItemsService {
      constructor(options?: ServiceOptions) {
        super(collection, options);
      }
    };
    return Object.defineProperty(made, 'name', { value: name });
  };
  type Fixed = ReturnType<typeof over>;
  const fixed = Object.fromEntries(
    Object.entries(COLLECTIONS).map(([name, collection]) => [name, over(name, collection)]),
  );
  return Object.freeze({
    ItemsService,
    ...(fixed as Readonly<Record<keyof typeof COLLECTIONS, Fixed>>),
    FilesService: filesServiceClass(kit, ItemsService),
    ...schemaServiceClasses(kit, Acting),
  });
}
