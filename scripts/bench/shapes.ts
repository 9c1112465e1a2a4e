export interface Shape {
  readonly name: string;
  readonly path: string;
  /** The hand-written statement, and the parameters it runs with. */
  readonly ideal: string;
  readonly params: readonly unknown[];
}

const TRACK = `t.track_id, t.name, t.album_id, t.media_type_id, t.genre_id, t.composer, t.milliseconds, t.bytes,
  t.unit_price::text as unit_price`;

const list = (rows: string) => `select '[' || string_agg(row_to_json(r)::text, ',') || ']' as data from (${rows}) r`;

/** What is measured on Chinook. The paths ask both servers for the same JSON. */
export const SHAPES: readonly Shape[] = [
  {
    name: 'read one',
    path: '/items/track/1001',
    ideal: `select row_to_json(r)::text as data from (select ${TRACK} from track t where t.track_id = $1) r`,
    params: [1001],
  },
  {
    name: 'list 25',
    path: '/items/track?limit=25',
    ideal: list(`select ${TRACK} from track t order by t.track_id limit 25`),
    params: [],
  },
  {
    name: 'list 25 with many-to-one',
    path: '/items/track?limit=25&fields=track_id,name,milliseconds,album_id.title,album_id.artist_id.name',
    ideal: list(`select t.track_id, t.name, t.milliseconds, case when al.album_id is not null then (
        select row_to_json(a) from (select al.title, case when ar.artist_id is not null then (
          select row_to_json(r) from (select ar.name) r) end as artist_id) a) end as album_id
      from (select * from track order by track_id limit 25) t
      left join album al on al.album_id = t.album_id left join artist ar on ar.artist_id = al.artist_id
      order by t.track_id`),
    params: [],
  },
];
