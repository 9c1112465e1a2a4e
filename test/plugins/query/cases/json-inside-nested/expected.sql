select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."widget" t1 where (case when jsonb_typeof(t1."doc" #> $1::text[]) = 'number' then (t1."doc" #>> $1::text[])::numeric end = $2::numeric) order by t1."id" limit 100) r
-- [["size","w"],"10"]
