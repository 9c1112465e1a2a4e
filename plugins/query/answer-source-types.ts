/** What the answer of one statement depends on, beside its own text and values. */
export interface StatementSources {
  /** The tables and views that the statement reads, permissions included: quoted names with their schemas. */
  readonly tables: ReadonlySet<string>;
  /** Whether `$CURRENT_USER` is among its values. */
  readonly user: boolean;
  /** Whether `$CURRENT_ROLE` is among its values. */
  readonly role: boolean;
  /** Whether `$NOW` is among its values. */
  readonly time: boolean;
}

/**
 * Collects what the answer of one request is made of. A cache of answers sets one for a request whose answer it may store
 * (`QueryEngine.setAnswerSourcesLookup`); `currentAnswerSources` of the library finds it. Without `markComplete` the answer is not
 * stored.
 */
export interface AnswerSources {
  /** A statement ran for the answer. */
  addStatement(sources: StatementSources): void;
  /** Listeners to these events may change the answer or want to know of it: it is stored and used only while there are none. */
  addEvents(names: readonly string[]): void;
  /**
   * The answer depends on nothing but the added statements and events, the text of the request, the schema snapshot and the
   * permissions of the caller.
   */
  markComplete(): void;
  /**
   * The answer may be kept as long as CACHE_TTL allows, whatever it is made of and whatever the request wrote, for this user only. With
   * CACHE_AUTO_PURGE a change of one of these tables, quoted names with their schemas, forgets it. Clients and proxies may not keep it
   * (`no-store`).
   */
  keepUntilExpired(tables: readonly string[]): void;
  /** The answer also depends on something that the other methods cannot say. */
  markUncacheable(): void;
  /** The request wrote rows, although its method reads. */
  markWrite(): void;
}
