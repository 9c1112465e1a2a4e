import { pluginPackageJsonSchema } from '../../kernel/manifest/schema.ts';
import { BUNDLE_ENTRY_SCHEMAS, MANIFEST_SCHEMAS } from '../../plugins/extensions/manifest/schema.ts';
import { type ManifestSchema, renderSchemaAsTypeScript } from './json-schema.ts';
import { inlineCode, markdownPage, markdownTable } from './markdown.ts';

/** What each member of `service:extension` is for. */
const MEANINGS: Readonly<Record<string, string>> = {
  type: 'the kind of package',
  path: 'the file that is loaded; of operations and bundles, one for the service (`api`) and one for the app (`app`)',
  source: 'the file it was built from',
  host: 'versions of the host that it works with, as a range such as `^1.0.0`',
  hidden: 'left out of the app’s lists',
  required: 'the service refuses what the package would have checked while it is not loaded',
  settings: 'settings of the package, which admins set at `/extension-settings`',
  capabilities: 'what it may do ([capabilities](capabilities.md))',
  events: 'exact names of events that a confined hook handles',
  runtime: '`confined-server`: runs in a process of its own; without it the package has full authority',
  stateful: 'one context for all calls, instead of one for each',
  optionDelivery: 'options of an operation that are passed as references to secrets',
  input: 'JSON Schema of requests to a confined endpoint: an object of `method`, `path`, `query` and `body`',
  output: 'JSON Schema of its answers: an object of `status` and `body`',
  entries: 'the extensions of a bundle',
  name: 'the name of the entry',
  provides: 'services it provides, with their versions',
  uses: 'services it uses, with ranges of versions',
  facets: 'extension points it defines',
  contributes: 'what it adds to extension points of other plugins, by the name of the facet',
  config: 'settings it declares, by name: type, default, limits, whether secret',
};

const SHAPES: readonly (readonly [title: string, schema: ManifestSchema])[] = [
  ['Endpoint', MANIFEST_SCHEMAS.endpoint],
  ['Hook', MANIFEST_SCHEMAS.hook],
  ['Operation', MANIFEST_SCHEMAS.operation],
  ['Bundle', MANIFEST_SCHEMAS.bundle],
  ['Entry of a bundle: endpoint', BUNDLE_ENTRY_SCHEMAS.endpoint],
  ['Entry of a bundle: hook', BUNDLE_ENTRY_SCHEMAS.hook],
  ['Entry of a bundle: operation', BUNDLE_ENTRY_SCHEMAS.operation],
  ['Entry of a bundle: app', BUNDLE_ENTRY_SCHEMAS.app],
  ['App extension', MANIFEST_SCHEMAS.app],
  [
    'Plugin',
    (pluginPackageJsonSchema.properties as Record<string, ManifestSchema>)['service:extension'] as ManifestSchema,
  ],
];

/** docs/reference/manifest.md: the members of `service:extension` by type of package. @throws Error for a member without a text. */
export const renderManifestReferencePage = (): string =>
  markdownPage(
    'Manifest',
    `The key \`service:extension\` of a package’s \`package.json\`. Unknown members are refused, never ignored. Files are named from the
package’s folder.`,
    ...SHAPES.map(([title, schema]) => `## ${title}\n\n${members(schema)}`),
  );

const members = ({ properties = {}, required = [] }: ManifestSchema): string =>
  markdownTable(
    ['Member', 'Type', 'Required', 'Meaning'],
    Object.entries(properties).map(([name, schema]) => {
      const meaning = MEANINGS[name];
      if (!meaning) throw new Error(`manifest member ${name} has no text in scripts/reference/manifest.ts`);
      return [
        inlineCode(name),
        inlineCode(renderSchemaAsTypeScript(schema)),
        required.includes(name) ? 'yes' : '',
        meaning,
      ];
    }),
  );
