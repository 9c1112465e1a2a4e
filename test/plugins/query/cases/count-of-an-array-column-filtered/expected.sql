select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."thing" t1 where (case when jsonb_typeof(to_jsonb(t1."list")) = 'array' then jsonb_array_length(to_jsonb(t1."list")) end >= $1::int8) order by t1."id" limit 100) r
-- ["2"]
