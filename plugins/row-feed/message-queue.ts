import type { Log } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { AnnouncedChange } from './contract.ts';
import { type FeedMessage, isFeedContent, parseFeedMessage, toChange } from './parse-message.ts';

interface Deps {
  readonly db: Db;
  readonly log: Log;
  readonly onChange: (change: AnnouncedChange) => void;
  /** The content of a message is lost. */
  readonly onGap: () => void;
}

/** Bytes that a message and its change take in memory beside their content. */
const BYTES_PER_MESSAGE = 200;
/** Messages that wait for the content of an earlier one. */
const MAX_WAITING = 20_000;

/** Passes messages on in their order: those behind a message whose content is stored wait until it is read. */
export interface MessageQueue {
  push(payload: unknown): void;
  /** Forgets the waiting messages. */
  clear(): void;
}

export function createMessageQueue({ db, log, onChange, onGap }: Deps): MessageQueue {
  const CONTENT = db.sql`select content from ${db.own('platform_row_feed_messages')} where id = $1`;
  let waiting: FeedMessage[] = [];
  let isReading = false;
  /** Counts `clear`, so that a content that is read meanwhile is dropped. */
  let generation = 0;

  async function readContent({ id }: FeedMessage): Promise<string | undefined> {
    try {
      const { rows } = await db.query<{ content: string }>(CONTENT, [id], { name: 'platform_row_feed_content' });
      return rows[0]?.content;
    } catch (error) {
      log.warn(
        { reason: (error as Error).message },
        'the content of a changed row could not be read: clients read again',
      );
      return undefined;
    }
  }

  async function drain(): Promise<void> {
    const started = generation;
    isReading = true;
    while (waiting.length > 0) {
      const message = waiting[0] as FeedMessage;
      const content = message.content === undefined ? await readContent(message) : null;
      if (generation !== started) return;
      waiting.shift();
      pass(message, content);
      if (generation !== started) return;
    }
    isReading = false;
  }

  function pass(message: FeedMessage, text: string | null | undefined): void {
    if (message.content !== undefined) {
      onChange(toChange(message, message.content, sizeOf(message)));
      return;
    }
    const content: unknown = text === undefined || text === null ? undefined : JSON.parse(text);
    if (isFeedContent(content)) onChange(toChange(message, content, (text?.length ?? 0) + BYTES_PER_MESSAGE));
    else onGap();
  }

  function clear(): void {
    generation++;
    waiting = [];
    isReading = false;
  }

  return {
    push(payload) {
      const message = parseFeedMessage(payload);
      if (!message) return;
      if (!isReading && message.content !== undefined) {
        pass(message, null);
        return;
      }
      if (waiting.length >= MAX_WAITING) {
        clear();
        onGap();
        return;
      }
      waiting.push(message);
      if (!isReading) void drain();
    },
    clear,
  };
}

/** The size of an inline content: it was parsed already, so its text is measured again. */
const sizeOf = ({ content }: FeedMessage): number =>
  content ? JSON.stringify(content).length + BYTES_PER_MESSAGE : BYTES_PER_MESSAGE;
