import { COMMON_ERROR_CODES, type DescribedRoute, type RouteAccess } from '../../plugins/http/contract.ts';
import { inlineCode, inlineCodes, markdownPage, markdownTable } from './markdown.ts';

const ACCESS: Readonly<Record<RouteAccess, string>> = {
  public: 'everyone',
  user: 'signed-in users',
  app: 'users with app access',
  admin: 'admins',
  permissions: 'by permissions',
  'own-token': 'programs with a token of their own',
};

/** docs/reference/routes.md: every route of the core plugins, by tag, in the order of their paths. */
export function renderRoutesReferencePage(routes: readonly DescribedRoute[]): string {
  const shown = routes.filter(({ method }) => method !== '*');
  const tags = [...new Set(shown.map(tagOf))].sort();
  return markdownPage(
    'Routes',
    `Every route of the service. \`:name\` stands for one segment of the path. \`SEARCH\` is a read whose query is in the body. GraphQL serves
the same items at \`/graphql\` and the service's own collections at \`/graphql/system\`. The errors named are those beside the ones any
route may answer: ${inlineCodes(COMMON_ERROR_CODES)}. Extensions add paths of their own.
\`GET /server/ping\` answers \`pong\` to everyone, before callers are identified and while the database is down.`,
    ...tags.map(
      (tag) =>
        `## ${tag}\n\n${markdownTable(
          HEAD,
          shown
            .filter((route) => tagOf(route) === tag)
            .sort(byPath)
            .map(row),
        )}`,
    ),
  );
}

const HEAD = ['Route', 'For', 'What it does', 'Query parameters', 'Answers', 'Own errors'] as const;

const tagOf = ({ path, description }: DescribedRoute): string => description.tag ?? path.split('/')[1] ?? '';

const METHODS = ['GET', 'HEAD', 'SEARCH', 'POST', 'PUT', 'PATCH', 'DELETE'];
const byPath = (a: DescribedRoute, b: DescribedRoute): number =>
  a.path === b.path ? METHODS.indexOf(a.method) - METHODS.indexOf(b.method) : a.path < b.path ? -1 : 1;

const row = ({ method, path, description }: DescribedRoute): readonly string[] => [
  `${inlineCode(`${method} ${path}`)}`,
  ACCESS[description.access],
  description.summary,
  inlineCodes(Object.keys(description.query ?? {})),
  Object.entries(description.answers)
    .map(
      ([status, content]) => `${status}${Object.keys(content).length > 0 ? ` ${Object.keys(content).join(', ')}` : ''}`,
    )
    .join('; '),
  inlineCodes(description.errors ?? []),
];
