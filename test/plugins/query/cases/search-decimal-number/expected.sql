select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."book" t1 where (t1."id" = $1::numeric or t1."title"::text ilike $2::text or t1."price" = $3::numeric or t1."rating" = $4::numeric or t1."big" = $5::numeric or t1."author" = $6::numeric) order by t1."id" limit 100) r
-- ["9.99","%9.99%","9.99","9.99","9.99","9.99"]
