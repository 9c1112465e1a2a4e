import { authorities, facet } from '#kernel';

/** HTML that is added to every page. Its author is trusted as the service itself is: the pages have fields for passwords. */
export interface PageEmbed {
  /** Rendered for each page. */
  render(): { readonly head: string; readonly body: string };
}

/** What is added to the pages of sign-in. Contributed by the plugin that runs code with full authority. */
export const pageEmbeds = facet<PageEmbed, readonly PageEmbed[]>('pages.embeds', {
  combine: (all) => all.map(({ value }) => value),
  coreOnly: true,
  describe: () => authorities('contributes to', ['every page of sign-in, with scripts']),
});
