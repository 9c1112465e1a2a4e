select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."book" t1 where (t1."title" = $1::text or (t1."price" > $2::numeric and t1."ok" = $3::boolean)) order by t1."id" limit 100) r
-- ["One","50",true]
