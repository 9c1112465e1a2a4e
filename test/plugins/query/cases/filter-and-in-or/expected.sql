select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."book" t1 where ((t1."id" = $1::int8 and t1."ok" = $2::boolean) or (t1."id" = $3::int8)) order by t1."id" limit 100) r
-- ["1",true,"3"]
