import type { ExtensionRuntime } from '../extension-runtime.ts';
import { createBaseServiceClass, type ExtensionServiceOptions } from './base-service.ts';
import { createContributedServices } from './contributed.ts';
import { createFilesServiceClass } from './files.ts';
import { createItemsServiceClass } from './items.ts';
import { createMetaServiceClass } from './meta.ts';
import { createSchemaServices } from './schema.ts';

/** Services that are the items service over one system collection. */
const COLLECTIONS = {
  ActivityService: 'platform_activity',
  CommentsService: 'platform_comments',
  DashboardsService: 'platform_dashboards',
  FlowsService: 'platform_flows',
  FoldersService: 'platform_folders',
  NotificationsService: 'platform_notifications',
  OperationsService: 'platform_operations',
  PanelsService: 'platform_panels',
  PermissionsService: 'platform_permissions',
  PresetsService: 'platform_presets',
  RevisionsService: 'platform_revisions',
  RolesService: 'platform_roles',
  SettingsService: 'platform_settings',
  SharesService: 'platform_shares',
  TranslationsService: 'platform_translations',
  UsersService: 'platform_users',
} as const;

export type ExtensionContextServices = ReturnType<typeof createExtensionContextServices>;

/**
 * The member `services` of the context: thin classes over the core verbs. Each extension has its own, so that the
 * audit counts what they do without accountability under its name.
 */
export function createExtensionContextServices(runtime: ExtensionRuntime) {
  const Acting = createBaseServiceClass(runtime);
  const ItemsService = createItemsServiceClass(runtime, Acting);
  const createFor = (name: string, collection: string) => {
    const service = class extends ItemsService {
      constructor(options?: ExtensionServiceOptions) {
        super(collection, options);
      }
    };
    return Object.defineProperty(service, 'name', { value: name });
  };
  type Fixed = ReturnType<typeof createFor>;
  const systemServices = Object.fromEntries(
    Object.entries(COLLECTIONS).map(([name, collection]) => [name, createFor(name, collection)]),
  );
  return Object.freeze({
    ...createContributedServices(Acting, runtime.deps.serviceClasses()),
    MetaService: createMetaServiceClass(runtime, Acting),
    ItemsService,
    ...(systemServices as Readonly<Record<keyof typeof COLLECTIONS, Fixed>>),
    FilesService: createFilesServiceClass(runtime, ItemsService),
    ...createSchemaServices(runtime, Acting),
  });
}
