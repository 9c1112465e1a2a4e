import { GraphiQL } from 'graphiql';
import { createRoot } from 'react-dom/client';
import 'graphiql/style.css';
import { Account } from './account.jsx';
import './explorer.css';
import { createFetcher } from './fetcher.js';
import { createSession } from './session.js';
import { storageFor } from './storage.js';

const container = document.getElementById('explorer');
const { scope } = container.dataset;
/** The URL of the service, which may be below a path. */
const root = new URL(`${container.dataset.root}/`, location.href);
const workers = JSON.parse(container.dataset.workers);

globalThis.MonacoEnvironment = {
  getWorker: (_id, label) => new Worker(new URL(`graphql/explorer/${workers[label] ?? workers.editor}`, root)),
};

const WELCOME = `# Write a document here and run it with Ctrl+Enter.
# Ctrl+Space completes names.
#
# The schema (the book on the left) holds what you
# may read and change. Sign in at the upper right
# to see more of it.

`;

/** Scalars that may be any JSON: the editor of variables would otherwise accept texts and numbers only. */
const ANY = { JSON: {}, GeoJSON: {} };

const scopes = [
  { name: 'items', path: 'graphql', title: 'Items' },
  { name: 'system', path: 'graphql/system', title: 'System' },
];

const parameters = new URLSearchParams(location.search);
const session = createSession(new URL('auth/', root).href);
const fetcher = createFetcher(session);
const storage = storageFor(scope);

createRoot(container).render(
  <GraphiQL
    fetcher={fetcher}
    storage={storage}
    defaultQuery={WELCOME}
    initialQuery={parameters.get('query') ?? undefined}
    initialVariables={parameters.get('variables') ?? undefined}
    customScalarSchemas={ANY}
    inputValueDeprecation
    schemaDescription
  >
    <GraphiQL.Logo>
      <nav className="explorer-bar">
        {scopes.map(({ name, path, title }) => (
          <a key={name} href={new URL(path, root).href} aria-current={name === scope ? 'page' : undefined}>
            {title}
          </a>
        ))}
        <Account session={session} />
      </nav>
    </GraphiQL.Logo>
  </GraphiQL>,
);
