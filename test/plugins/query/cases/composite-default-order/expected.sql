select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."film" as "film", t1."actor" as "actor" from "public"."role" t1 order by t1."film", t1."actor" limit 3 offset $1::int8) r
-- [1]
