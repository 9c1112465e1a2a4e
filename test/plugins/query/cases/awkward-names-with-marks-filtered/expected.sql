select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."awkward" t1 where (t1."price (EUR)" > $1::int8 and t1."hour(at)" = $2::text and t1."a:b" = $3::text and t1."_under" = $4::int8) order by t1."id" limit 100) r
-- ["100","f2","ab2","8"]
