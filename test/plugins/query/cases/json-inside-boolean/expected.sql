select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."thing" t1 where (case when jsonb_typeof(t1."doc" #> $1::text[]) = 'boolean' then (t1."doc" #>> $1::text[])::boolean end = $2::boolean) order by t1."id" limit 100) r
-- [["t"],true]
