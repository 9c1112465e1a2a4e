import { createUserWithPermissions, requestAsAdmin, type TestUserWithToken } from '../../test/http/test-users.ts';
import type { RunningTestService } from '../../test/support/service.ts';

/** To-many aliases over the tables' foreign keys: parent, alias, child, foreign key, more of the relation. */
const ALIASES: readonly [parent: string, alias: string, child: string, key: string, more?: object][] = [
  ['article', 'comments', 'comment', 'article_id'],
  ['article', 'tags', 'article_tag', 'article_id', { junction_field: 'tag_id', sort_field: 'sort' }],
  ['author', 'articles', 'article', 'author_id'],
];

/** What the editor may read of an article. */
const EDITOR_FIELDS = ['id', 'title', 'status', 'author_id', 'published_at', 'views'];

/** Creates the editor, a user who may read some fields of published articles: a row rule and a field list. */
export const createEditorUser = (service: RunningTestService): Promise<TestUserWithToken> =>
  createUserWithPermissions(service, [
    { collection: 'article', action: 'read', fields: EDITOR_FIELDS, permissions: { status: { _eq: 'published' } } },
  ]);

/**
 * Creates the alias fields of the tables and the editor. Returns an access token of the editor, of the same kind as that of the
 * admin, since both are compared.
 */
export async function createBenchAliasesAndEditor(service: RunningTestService): Promise<string> {
  for (const [parent, alias, child, key, more] of ALIASES) {
    const special = more ? 'm2m' : 'o2m';
    await requestAsAdmin(service, 'POST', `/fields/${parent}`, {
      field: alias,
      type: 'alias',
      meta: { special: [special] },
    });
    await requestAsAdmin(service, 'PATCH', `/relations/${child}/${key}`, { meta: { one_field: alias, ...more } });
  }
  const { id, token } = await createEditorUser(service);
  const { email } = await requestAsAdmin(service, 'PATCH', `/users/${id}`, { password: token });
  const { body } = await service.request('POST', '/auth/login', { body: { email, password: token } });
  return body.data.access_token;
}
