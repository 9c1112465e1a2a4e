import { getFullAuthorityRegistrations } from './hook-registry.ts';
import type { FullAuthorityDeps } from './injected-services.ts';

/** Renders the HTML that hooks add to the admin page, in the order of registration; functions are called for each page. */
export function renderAdminPageEmbeds(deps: Pick<FullAuthorityDeps, 'log'>): {
  readonly head: string;
  readonly body: string;
} {
  const renderPosition = (position: 'head' | 'body') =>
    getFullAuthorityRegistrations(deps)
      .embeds.filter((one) => one.position === position)
      .map(({ owner, code }) => {
        try {
          const html = typeof code === 'function' ? code() : code;
          return typeof html === 'string' ? html : '';
        } catch (error) {
          deps.log.error({ err: error, extension: owner }, `${owner} failed to add to the admin page`);
          return '';
        }
      })
      .filter((html) => html !== '')
      .join('\n');
  return { head: renderPosition('head'), body: renderPosition('body') };
}
