import type { CorePluginManifestExcerpt } from './core-plugins.ts';
import { inlineCode, inlineCodes, markdownPage, markdownTable } from './markdown.ts';

interface EventText {
  readonly kinds: readonly ('filter' | 'action')[];
  /** When it is emitted. */
  readonly when: string;
  /** What a filter handler receives and returns, and the `payload` of an action. */
  readonly payload: string;
}

/** Events of items: emitted for each collection, under these patterns. */
const ITEM_EVENTS: Readonly<Record<string, EventText>> = {
  query: { kinds: ['filter'], when: 'before a read is planned', payload: 'the query' },
  read: {
    kinds: ['filter', 'action'],
    when: 'after rows were read; an action where the rows were answered',
    payload: 'the rows',
  },
  create: {
    kinds: ['filter', 'action'],
    when: 'before a row is created; after commit, with its `key`',
    payload: 'the fields',
  },
  update: {
    kinds: ['filter', 'action'],
    when: 'before rows are updated; after commit, with their `keys`',
    payload: 'the changed fields',
  },
  sort: {
    kinds: ['action'],
    when: 'after an item was moved in the manual order, with `item` and `to`',
    payload: 'nothing',
  },
  delete: {
    kinds: ['filter', 'action'],
    when: 'before rows are deleted; after commit, with their `keys`',
    payload: 'the keys',
  },
};

/** An event of writes that has one name for all collections. */
const DATABASE_ERROR: EventText = {
  kinds: ['filter'],
  when: 'before a write that the database refused fails, with `client`',
  payload: 'the error as it would be sent; another one is sent in its place',
};

const schemaEvent = (what: string, verb: string): EventText => ({
  kinds: ['filter', 'action'],
  when: `before a ${what} is ${verb}; after commit`,
  payload: verb === 'deleted' ? 'a list with its name' : `the definition, nested (\`schema\`, \`meta\`) and flat`,
});

/** Events that plugins declare by name. */
const NAMED_EVENTS: Readonly<Record<string, EventText>> = {
  'websocket.connect': {
    kinds: ['action'],
    when: 'after a socket was opened, with `client`: `id`, `transport` and, for code with full authority, `send`',
    payload: 'nothing',
  },
  'websocket.authenticate': {
    kinds: ['filter'],
    when: 'before the credentials of a message (or of an upgrade, as a message) are looked at, with `message`; not for confined code',
    payload: 'the accountability of the public; another one is taken in place of that of the credentials',
  },
  'websocket.message': {
    kinds: ['filter', 'action'],
    when: 'before a message of the REST-style socket is handled; after it was, with `message`; both with `client`. Not for messages `auth`',
    payload: 'the message; another one is handled in its place',
  },
  'websocket.error': {
    kinds: ['action'],
    when: 'after a client broke the protocol of sockets, with `client` and `error`, a text',
    payload: 'nothing',
  },
  'websocket.close': { kinds: ['action'], when: 'after a socket was closed, with `client`', payload: 'nothing' },
  'websocket.auth.success': {
    kinds: ['action'],
    when: 'after a client authenticated by a message, with `client`; the caller is its user',
    payload: 'nothing',
  },
  'websocket.auth.failure': {
    kinds: ['action'],
    when: 'after a message with wrong credentials, with `client`',
    payload: 'nothing',
  },
  'auth.login': {
    kinds: ['filter', 'action'],
    when: 'before credentials are checked; after a sign-in, with `status` `success` or `fail`',
    payload: 'the credentials; for actions without secrets',
  },
  'auth.create': {
    kinds: ['filter'],
    when: 'before the first sign-in by a provider registers a user; the meta has `provider`, `identifier` and `providerPayload`',
    payload: 'names and e-mail address; what decides the rights of the user is not taken over',
  },
  'auth.update': {
    kinds: ['filter'],
    when: 'before a sign-in by a provider changes its user, with the same meta',
    payload: 'what changes of names and e-mail address',
  },
  'auth.jwt': { kinds: ['filter'], when: 'before an access token is signed', payload: 'the claims' },
  authenticate: {
    kinds: ['filter'],
    when: 'before the token of a request is looked at, with `req`; not for confined code',
    payload: 'the accountability of the public; another one is taken in place of that of the token',
  },
  'auth.reuse': {
    kinds: ['action'],
    when: 'after a refresh token that was spent before ended its session, with `user` and `session`',
    payload: 'nothing',
  },
  'files.upload': {
    kinds: ['action'],
    when: 'after the bytes of a file were stored, instead of `files.create` or `files.update`',
    payload: 'the fields of the file',
  },
  'request.not_found': {
    kinds: ['filter'],
    when: 'before a path without a route is answered 404',
    payload: '`false`; `true` means that the handler answered',
  },
  response: {
    kinds: ['action'],
    when: 'after an answer has ended, with `request`, `response`, `ip`, `duration` (milliseconds) and `finished`',
    payload: 'nothing',
  },
  'request.error': { kinds: ['filter'], when: 'before errors are sent', payload: 'the list of errors' },
  'email.send': {
    kinds: ['filter'],
    when: 'before a job sends a message; `false` or null: it is not sent',
    payload: 'the message: `to`, `cc`, `bcc`, `replyTo`, `fromName`, `subject`, and `template`, `html` or `text`',
  },
  'extensions.load': { kinds: ['action'], when: 'after packages were loaded', payload: '`extensions`: their names' },
  'extensions.unload': {
    kinds: ['action'],
    when: 'after packages were unloaded',
    payload: '`extensions`: their names',
  },
  'extensions.reload': {
    kinds: ['action'],
    when: 'after a reload',
    payload: '`extensions`, `added`, `removed`: names',
  },
  ...Object.fromEntries(
    ['collection', 'field', 'relation'].flatMap((what) => [
      [`${what}s.create`, schemaEvent(what, 'created')],
      [`${what}s.update`, schemaEvent(what, 'updated')],
      [`${what}s.delete`, schemaEvent(what, 'deleted')],
    ]),
  ),
};

/**
 * docs/reference/events.md: every event that a core plugin may emit.
 * @throws Error for an event that a manifest names and no text describes, and for a text without an event.
 */
export function renderEventsReferencePage(manifests: readonly CorePluginManifestExcerpt[]): string {
  const declared = manifests.flatMap(({ plugin, capabilities }) =>
    ((capabilities.events as { emit?: readonly string[] } | undefined)?.emit ?? []).map((name) => ({ name, plugin })),
  );
  const named = declared.filter(({ name }) => name !== '**');
  const missing = named.filter(({ name }) => !NAMED_EVENTS[name]).map(({ name }) => name);
  const extra = Object.keys(NAMED_EVENTS).filter((name) => !named.some((one) => one.name === name));
  if (missing.length + extra.length > 0) {
    throw new Error(`events without a text: ${missing.join(', ')}; texts without an event: ${extra.join(', ')}`);
  }
  return markdownPage(
    'Events',
    `A **filter** runs before the change, inside of its transaction: it answers the payload, changed or not, or rejects. An **action**
runs after commit and changes nothing. Handlers also get \`{ event, collection, … }\` and the caller. An event that its own listener
emits again is stopped with \`EVENT_LOOP_DETECTED\`.`,
    `## Items\n\n${markdownTable(
      ['Event', 'Kind', 'When', 'Payload'],
      Object.entries(ITEM_EVENTS)
        .map(([verb, text]) => row(`${inlineCode(`items.${verb}`)}, ${inlineCode(`<collection>.items.${verb}`)}`, text))
        .concat([row(inlineCode('database.error'), DATABASE_ERROR)]),
    )}\n\nThe service’s own collections have one name each, without \`platform_\`: ${inlineCodes(['users.create', 'files.update', 'roles.delete'])}.`,
    `## Others\n\n${markdownTable(
      ['Event', 'Kind', 'When', 'Payload', 'Plugin'],
      named
        .map(({ name, plugin }) => [...row(inlineCode(name), NAMED_EVENTS[name] as EventText), plugin])
        .sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
    )}`,
  );
}

const row = (name: string, { kinds, when, payload }: EventText): readonly string[] => [
  name,
  kinds.join(', '),
  when,
  payload,
];
