import { findJsonSchemaProblems } from '#kernel';
import { type AUDIT_VERBS, renderAuthorities } from '../../plugins/broker/library.ts';
import { type ManifestSchema, renderSchemaAsTypeScript } from './json-schema.ts';
import { inlineCode, markdownPage, markdownTable } from './markdown.ts';
import type { PluginRegistrations } from './reader/index.ts';

interface CapabilityText {
  readonly about: string;
  /** The kinds of plugins and packages that may hold the capability. */
  readonly holders:
    | 'core plugins'
    | 'plugins'
    | 'confined packages'
    | 'plugins and confined packages'
    | 'packages with full authority';
  /** A grant as a manifest has it; its sentences are shown as the audit renders them. */
  readonly example: unknown;
}

const TEXTS: Readonly<Record<string, CapabilityText>> = {
  config: {
    about:
      'Reads settings. The manifest’s own section `config` declares them; `shared` names settings that other plugins declare.',
    holders: 'plugins',
    example: { GREETING: { type: 'string', default: 'Hello' }, shared: ['PUBLIC_URL'] },
  },
  database: {
    about:
      'Statements that name tables. `own`: tables of the plugin, with any statement; `read` and `write`: tables of others; `watch`: triggers that announce their changes; `ddl`: changes to its own tables while the service runs; `schema`: a schema of its own, with any statement; `sql`: any statement, with the reason.',
    holders: 'plugins',
    example: { own: ['platform_notes'], read: ['platform_users'] },
  },
  endpoint: {
    about: 'Answers requests under the id of the endpoint; `access` says which callers may call it.',
    holders: 'confined packages',
    example: { access: 'authenticated' },
  },
  events: {
    about:
      'Listens to events and emits them. A filter runs before the change and may alter or reject it; an action runs after commit.',
    holders: 'plugins',
    example: { filter: ['items.create'], action: ['items.update'], emit: ['notes.sent'] },
  },
  files: {
    about: 'Reserved: accepted in a manifest, without any effect yet.',
    holders: 'confined packages',
    example: { accountability: 'user' },
  },
  full: {
    about:
      'Everything that the process may do: held by each extension without `runtime: "confined-server"`, never declared.',
    holders: 'packages with full authority',
    example: true,
  },
  identity: {
    about: 'Makes callers out of evidence of the listed kinds.',
    holders: 'core plugins',
    example: { evidence: ['token'] },
  },
  items: {
    about: 'Reads and writes items by the same verbs as the API: as the calling user, or with full access.',
    holders: 'confined packages',
    example: { accountability: 'user', collections: ['orders'], actions: ['read'] },
  },
  log: {
    about: 'Writes lines to the log, under the name of the plugin or package.',
    holders: 'plugins and confined packages',
    example: true,
  },
  mail: {
    about:
      'Sends mail to addresses of the listed domains (`*`: any), and to no more recipients an hour than `perHour`.',
    holders: 'plugins and confined packages',
    example: { domains: ['example.com'], perHour: 20 },
  },
  native: {
    about:
      'Imports modules of Node and packages. For a plugin outside of the product this is a statement, not a limit.',
    holders: 'plugins',
    example: { modules: ['crypto'], packages: ['sharp'] },
  },
  packages: { about: 'Loads third-party packages and accounts for them.', holders: 'core plugins', example: true },
  queue: {
    about: 'Defines queues of background jobs with these names, adds jobs to them and runs them.',
    holders: 'plugins',
    example: ['reports'],
  },
  request: {
    about:
      'Sends HTTP requests to the listed origins. Addresses of private networks are refused unless a setting allows them.',
    holders: 'plugins and confined packages',
    example: { origins: ['https://api.example.com'], methods: ['GET'] },
  },
  schema: {
    about: 'Reserved: accepted in a manifest, without any effect yet.',
    holders: 'confined packages',
    example: ['read'],
  },
  services: {
    about: 'Provides services and uses those of other plugins: the manifest’s own sections `provides` and `uses`.',
    holders: 'plugins',
    example: { provides: { notes: '1.0.0' }, uses: { items: '^1.0.0' } },
  },
  settings: {
    about:
      'Reads the package’s own settings, which the manifest’s own section `settings` declares and admins set at `/extension-settings`.',
    holders: 'confined packages',
    example: { currency: { type: 'string' }, api_key: { type: 'string', secret: true } },
  },
  system: {
    about: 'Acts without the permissions of a user, for the listed reasons only. The ledger counts each time.',
    holders: 'plugins',
    example: { reasons: ['a nightly job closes old orders'] },
  },
  template: {
    about: 'Renders Liquid templates in a process of its own.',
    holders: 'plugins and confined packages',
    example: true,
  },
};

/** What each verb of the audit means to an auditor. */
const SENTENCES: Readonly<Record<(typeof AUDIT_VERBS)[number], string>> = {
  reads: 'Reads the named tables by SQL; in a confined package the items of the named collections.',
  writes: 'Writes the named tables of other plugins by SQL.',
  owns: 'The tables are its own: any statement on them; *the schema …*: on all tables of that schema.',
  changes:
    '*tables of its own (by migrations)*: creates and alters them at the start; *any table*: also while the service runs.',
  creates: 'Creates items of the named collections, as the calling user or with full access, as the sentence says.',
  updates: 'Updates items of the named collections, likewise.',
  deletes: 'Deletes items of the named collections, likewise.',
  renders: 'Renders Liquid templates in a process of its own.',
  reserves: 'No extension may take the path; of a capability: it is accepted in the manifest and has no effect yet.',
  'shows users of the app': 'Users with app access may read the named settings of the package.',
  'runs any statement': 'Any SQL on any table, for the reason given.',
  'is notified of changes of': 'Its triggers announce changes of the tables, also those made by SQL.',
  serves:
    'Answers requests under the path; *(as system collections)*: the tables are collections of the API, with permissions.',
  answers: 'Answers the named root fields of GraphQL.',
  'handles requests in the phase': 'Sees every request in this phase, before or after the routes.',
  'listens to': 'Is notified of the events after the change is committed.',
  'may change': 'Sees the events before the change, and may alter or reject it.',
  'may reject': 'May refuse, and not alter.',
  emits: 'Emits the events, for others to listen to.',
  'sends requests to': 'Sends HTTP requests to these origins and no others.',
  'sends mail to':
    'Sends mail from EMAIL_FROM to addresses of these domains and no others, and to no more recipients an hour.',
  'runs as system': 'Acts without the permissions of a user, for the reason given. The ledger counts each time.',
  'identifies callers as': 'Decides who a caller is, by evidence of this kind.',
  'reads the settings':
    'Reads the settings from the environment; *(of other plugins)*: those that another plugin declares.',
  logs: 'Writes lines to the log under its own name.',
  loads: 'Imports modules of Node and packages.',
  provides:
    'Provides a service to other plugins, or the named operation, hook or endpoint. An endpoint has its path (*serves*) once it is loaded.',
  uses: 'Uses services of other plugins.',
  defines: 'Adds a capability, or methods that confined code may call.',
  opens: 'Opens an extension point, to which other plugins contribute.',
  'contributes to': 'Adds something to an extension point of another plugin.',
  runs: 'Runs by the clock, in the admin app, jobs of a queue, or third-party packages, as the sentence says.',
  'may be called by': 'The callers who may request the endpoint.',
  'may do':
    '*everything this process can do*: nothing limits it. *nothing (it does not load, …)*: its package is broken or refused.',
};

/**
 * docs/reference/capabilities.md: what each capability allows, and the sentences that consent and audit show for a grant.
 * @throws Error for a capability without a text here, a text without a capability, and an example that its schema refuses.
 */
export function renderCapabilitiesReferencePage({ capabilities }: PluginRegistrations): string {
  const extra = Object.keys(TEXTS).filter((name) => !capabilities.has(name));
  if (extra.length > 0) throw new Error(`no such capability: ${extra.join(', ')}`);
  return markdownPage(
    'Capabilities',
    `A grant stands under \`capabilities\` of a manifest, unless the text says otherwise. \`GET /extensions/audit\` and \`npm run audit\` show
what each plugin and package was granted in the sentences below, and what it did with it.`,
    ...[...capabilities]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, capability]) => {
        const text = TEXTS[name];
        if (!text) throw new Error(`capability ${name} has no text in scripts/reference/capabilities.ts`);
        const wrong = findJsonSchemaProblems(capability.schema, text.example, name);
        if (wrong.length > 0) throw new Error(`the example of capability ${name} is wrong: ${wrong.join('; ')}`);
        return section(name, capability, text);
      }),
    `## Sentences of the audit\n\n${markdownTable(
      ['A line begins with', 'What it means'],
      Object.entries(SENTENCES).map(([verb, meaning]) => [`*${verb}*`, meaning]),
    )}`,
  );
}

function section(
  name: string,
  capability: PluginRegistrations['capabilities'] extends ReadonlyMap<string, infer One> ? One : never,
  { about, holders, example }: CapabilityText,
): string {
  const member = capability.member === undefined ? '' : ` It is the member ${inlineCode(`host.${capability.member}`)}.`;
  return `## ${name}

${about} For ${holders}.${member}

- Grant: ${inlineCode(renderSchemaAsTypeScript(capability.schema as ManifestSchema))}
- For example: ${inlineCode(JSON.stringify(example))}
- In the audit: ${renderAuthorities(capability.describe(example))
    .map((sentence) => `*${sentence}*`)
    .join('; ')}`;
}
